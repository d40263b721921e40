-- The free slots of a job; null when the job has no concurrency limit. Locks the row of the job, so that two callers
-- never pass on the same slot.
create or replace function free_slots(p_job_no bigint) returns int
language plpgsql as $$
declare
  v_concurrency int;
begin
  select concurrency into v_concurrency from jobs where id = p_job_no for no key update;
  if v_concurrency is null then
    return null;
  end if;
  return greatest(0, v_concurrency - (select count(*)::int from slots where job_no = p_job_no));
end $$;
