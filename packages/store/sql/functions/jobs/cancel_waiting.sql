-- Cancels up to p_limit runs of a cancelled job that wait and have never started, after the run p_after. They have no
-- steps, no worker and no tally, so this does what end_runs does for them at a fraction of its cost, but no event: the end
-- of the job tells how many were cancelled. Their slots are not passed on, because no run of the job may start. Returns
-- how many were cancelled and the last of them.
create or replace function cancel_waiting(p_job_no bigint, p_after bigint, p_limit int)
returns table (cancelled int, last_id bigint)
language plpgsql
-- planner: batch
as $$
declare
  v_job jobs;
  v_ids bigint[];
begin
  select * into v_job from jobs where id = p_job_no;
  v_ids := array(
    select id from runs
    where job_no = p_job_no and id > p_after and status || '' in ('pending', 'queued') and attempt = 0
    order by id limit p_limit for update);
  update runs
  set status = 'cancelled', outcome = run_outcome('cancelled', null), error_message = 'cancelled on request',
      completed_at = now(), updated_at = now()
  where id = any(v_ids);
  delete from outbox where run_id = any(v_ids);
  delete from slots where run_id = any(v_ids);
  if v_job.run_mode = 'cloud' then
    perform mark_finished_infras_due(v_ids);
  end if;
  -- As count_events counts runs that end with an event, in the same order.
  insert into farm_series as s (minute, kind, label, count)
  select minute, kind, label, cardinality(v_ids)
  from (values (date_trunc('minute', now()), 'run', 'cancelled'),
               (date_trunc('hour', now()), 'workflow', v_job.workflow_name)) c(minute, kind, label)
  where cardinality(v_ids) > 0 order by minute, kind, label
  on conflict (minute, kind, label) do update set count = s.count + excluded.count;
  return query select cardinality(v_ids), v_ids[cardinality(v_ids)];
end $$;
