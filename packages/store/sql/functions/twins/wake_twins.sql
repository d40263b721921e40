-- Offers, for each of these runs, which have ended, the first run that waits for its end.
create or replace function wake_twins(p_ids bigint[]) returns void
language plpgsql
-- planner: walk
as $$
declare
  v_next bigint[];
begin
  if not works_once(null) then
    return;
  end if;
  select array_agg(run_id) into v_next from (
    select distinct on (e.workflow_name, e.workspace, e.target) o.run_id
    from (select distinct workflow_name, workspace, target from runs
          where id = any(p_ids) and batch is null) e
    cross join lateral twins_of(e.workflow_name, e.workspace, e.target, 'queued') as w(id)
    join outbox o on o.run_id = w.id
    where o.sent_at + interval '0' = 'infinity'
    order by e.workflow_name, e.workspace, e.target, o.rank, o.run_id
  ) next;
  perform wake_limited(v_next) where v_next is not null;
end $$;
