-- Of locked, queued runs those that may start: where works_once says so, of the runs of one workflow on one target in one
-- workspace one works at a time. The others wait without a slot. Batches of loops work beside each other, and beside the
-- run of their loop.
create or replace function once_at_a_time(p_ids bigint[]) returns bigint[]
language plpgsql
-- planner: walk
as $$
declare
  v_starts bigint[];
  v_waits bigint[];
begin
  if not works_once(null) then
    return p_ids;
  end if;
  -- Claims that could start two of them go one after the other.
  perform 1 from twin_locks where id = any(array(
    select (twin_key(workflow_name, workspace, target) & 1023)::int from runs where id = any(p_ids) and batch is null))
  order by id for update;
  select coalesce(array_agg(id) filter (where not waits), '{}'), coalesce(array_agg(id) filter (where waits), '{}')
  into v_starts, v_waits
  from (
    select r.id, r.batch is null and works_once(r.id) and (
             row_number() over (partition by r.key, r.batch is null order by r.id) > 1
             or exists (select from twins_of(r.workflow_name, r.workspace, r.target, 'running'))) as waits
    from (select id, batch, workflow_name, workspace, target, twin_key(workflow_name, workspace, target) as key
          from runs where id = any(p_ids)) r
  ) known;
  if cardinality(v_waits) > 0 then
    perform delay_runs(v_waits, '0');
    update outbox set sent_at = 'infinity' where run_id = any(v_waits);
    perform pass_slots(v_waits);
    -- From now on the end of a run that works finds those that wait; one that has just ended did not.
    perform 1 from runs where status || '' = 'running' and id = any(array(
      select t.id from runs w cross join lateral
        twins_of(w.workflow_name, w.workspace, w.target, 'running') as t(id)
      where w.id = any(v_waits))) order by id for share;
    perform wake_limited(array(
      select w.id from runs w where w.id = any(v_waits) and not exists (
        select from runs s where s.id = any(v_starts) and s.batch is null
          and twin_key(s.workflow_name, s.workspace, s.target) = twin_key(w.workflow_name, w.workspace, w.target))));
  end if;
  return v_starts;
end $$;
