-- Changes findings by hand: {"delete": true}, or {"state", "add_tags", "remove_tags"}. A gone one that is opened again
-- writes vuln.found, as a sighting does. Records are locked in the order of identities, as imports do. Returns for each
-- id 'changed', 'unchanged', 'deleted', 'not_found' or 'too_many_tags'.
create or replace function change_vulnerabilities(p_ids bigint[], p_change jsonb, p_by text, p_most_tags int)
returns table (record_id bigint, outcome text)
language plpgsql as $$
declare
  v_row record;
  v_workspaces text[] := '{}';
  v_events text[] := '{}';
begin
  perform set_config('scanfarm.changed_by', p_by, true);
  perform 1 from vulnerabilities v where v.id = any(p_ids) order by v.finding_hash, v.id for update;
  perform 1 from finding_sightings t where t.finding_id = any(p_ids) order by t.finding_id for update;
  -- The next import replaces what is changed by hand.
  update finding_sightings t set content_hash = null where t.finding_id = any(p_ids) and t.content_hash is not null;
  if p_change ->> 'delete' = 'true' then
    return query select i.id, case when delete_vulnerability(i.id) then 'deleted' else 'not_found' end
      from unnest(p_ids) as i(id);
    return;
  end if;
  for v_row in
    with wanted as materialized (
      select i.id, v.workspace, v.state as old_state, coalesce(p_change ->> 'state', v.state) as new_state,
             v.tags as old_tags, array(
               select t.tag from (
                 select tag, min(n) as n from (
                   select tag, n from unnest(v.tags) with ordinality as kept(tag, n)
                   union all
                   select tag, cardinality(v.tags) + n
                   from jsonb_array_elements_text(p_change -> 'add_tags') with ordinality as added(tag, n)) every
                 where not coalesce(p_change -> 'remove_tags' ? tag, false)
                 group by tag) t
               order by t.n) as new_tags
      from unnest(p_ids) as i(id) left join vulnerabilities v on v.id = i.id
    ), changed as (
      update vulnerabilities v
      set state = w.new_state, tags = w.new_tags, updated_at = now(),
          gone_at = case when w.new_state = 'gone' then coalesce(v.gone_at, now()) end,
          opened_at = case when w.old_state = 'gone' and w.new_state = 'open' then now() else v.opened_at end
      from wanted w
      where v.id = w.id and (w.old_state, w.old_tags) is distinct from (w.new_state, w.new_tags)
        and cardinality(w.new_tags) <= p_most_tags
      returning v.id, case when w.old_state = 'gone' and w.new_state = 'open'
                           then finding_event_data(v, null, true) end as event
    )
    select w.id, w.workspace, c.event,
           case when w.workspace is null then 'not_found' when c.id is not null then 'changed'
                when cardinality(w.new_tags) > p_most_tags then 'too_many_tags' else 'unchanged' end as outcome
    from wanted w left join changed c on c.id = w.id
  loop
    if v_row.event is not null then
      v_workspaces := v_workspaces || v_row.workspace;
      v_events := v_events || v_row.event;
    end if;
    record_id := v_row.id;
    outcome := v_row.outcome;
    return next;
  end loop;
  perform log_record_events('vuln.found', 'vulnerability', e.workspace, null, e.list)
  from (select workspace, array_agg(event) as list from unnest(v_workspaces, v_events) as made(workspace, event)
        group by workspace) e;
end $$;
