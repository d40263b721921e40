-- Passes the slots of runs that need them no longer to the next runs of their jobs.
create or replace function pass_slots(p_ids bigint[]) returns void
language plpgsql
-- planner: batch
as $$
declare
  v_job_no bigint;
  v_freed int;
  v_readied int := 0;
begin
  for v_job_no, v_freed in
    with freed as (delete from slots where run_id = any(p_ids) returning job_no)
    select job_no, count(*)::int from freed group by job_no order by job_no
  loop
    v_readied := v_readied + ready_next(v_job_no, v_freed);
  end loop;
  if v_readied > 0 then
    perform notify_masters();
  end if;
end $$;
