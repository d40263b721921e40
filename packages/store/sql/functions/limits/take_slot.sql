-- Gives a waiting run a slot of its job. False: none is free, or the job is locked; the run then waits for a slot, which
-- the end of another run or recount_slots passes on.
create or replace function take_slot(p_run_id bigint) returns boolean
language plpgsql as $$
declare
  v_job jobs;
begin
  select j.* into v_job from jobs j join runs r on r.job_no = j.id where r.id = p_run_id;
  if v_job.concurrency is null or exists (select from slots where run_id = p_run_id) then
    return true;
  end if;
  -- Others lock jobs before limits.
  perform 1 from jobs where id = v_job.id for no key update skip locked;
  if not found or free_slots(v_job.id) = 0 then
    return false;
  end if;
  insert into slots (run_id, job_no) values (p_run_id, v_job.id);
  return true;
end $$;
