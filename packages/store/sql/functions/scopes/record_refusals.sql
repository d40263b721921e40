-- Stores refusals and their events, and returns how many were new. p_items is an array of {run_id, attempt, seq, target,
-- reason, place}, whose first three are missing for targets that became no run. Those of a batch name the run of
-- its loop. No trigger fires for these events: its run could be refused again.
create or replace function record_refusals(p_job_no bigint, p_items jsonb) returns bigint
language sql as $$
  with made as (
    insert into refusals (job_no, run_id, attempt, seq, place, target, reason)
    select coalesce(p_job_no, r.job_no), i.run_id, i.attempt, i.seq, i.place, i.target, i.reason
    from jsonb_to_recordset(p_items)
      as i(run_id bigint, attempt int, seq int, place text, target text, reason text)
    left join lateral (select runs as run from runs where id = i.run_id offset 0) own on true
    left join lateral reported_run(own.run) r on true
    on conflict do nothing
    returning *
  ), logged as (
    insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                            processed, processed_at)
    select 'target.refused', format('evt_%s_refused', m.id), 'target.refused', 'executor', 'scan',
           json_build_object('job_id', coalesce(j.job_id, ''), 'run_uuid', coalesce(r.run_uuid::text, ''),
             'workflow', coalesce(j.workflow_name, ''), 'target', m.target, 'reason', m.reason, 'place', m.place)::text,
           coalesce(r.workspace, ''), coalesce(r.run_uuid::text, ''), coalesce(j.workflow_name, ''), true, now()
    from made m
    left join lateral (select job_id, workflow_name from jobs where id = m.job_no offset 0) j on true
    left join lateral (select runs as run from runs where id = m.run_id offset 0) own on true
    left join lateral reported_run(own.run) r on true
    order by m.id
    returning id
  )
  select count(*) from logged
$$;
