-- Hands runs back for their worker: those with a cancel request end as cancelled, the others are queued again.
create or replace function release_runs(p_ids bigint[]) returns void
language plpgsql
-- planner: batch
as $$
begin
  perform 1 from runs where id = any(p_ids) order by id for update;
  perform end_runs(jsonb_agg(jsonb_build_object('id', id, 'status', 'cancelled', 'error', 'cancelled on request')))
  from runs where id = any(p_ids) and status || '' = 'running' and cancel_requested_at is not null
  having count(*) > 0;
  perform requeue_runs(p_ids, 'the worker gave the run back');
end $$;
