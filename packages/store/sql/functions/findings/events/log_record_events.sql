-- Writes one event for each text of p_data, for a run if there is one.
create or replace function log_record_events(p_topic text, p_data_type text, p_workspace text, p_run runs, p_data text[])
returns void
language sql as $$
  -- Ids in the order of the events: an index takes them faster.
  with w as materialized (
    select event_is_wanted(p_topic) as wanted, 'evt_' || replace(gen_random_uuid()::text, '-', '') || '_' as prefix)
  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select p_topic, w.prefix || d.n, p_topic,
         case when (p_run).id is null then 'api' else 'executor' end, p_data_type, case when octet_length(d.data) <= 65536 then d.data else bounded_event_data(d.data) end, p_workspace,
         coalesce((p_run).run_uuid::text, ''), coalesce((p_run).workflow_name, ''),
         not w.wanted, case when w.wanted then null else now() end
  from unnest(p_data) with ordinality as d(data, n)
  cross join w
  order by d.n
$$;
