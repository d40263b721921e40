-- Passes p_count free slots of a job to its next waiting runs. Rows that another transaction has locked are skipped.
-- Returns how many runs became ready.
create or replace function ready_next(p_job_no bigint, p_count int) returns int
language plpgsql
-- planner: batch
as $$
declare
  v_ids bigint[];
begin
  if exists (select from jobs where id = p_job_no and infra_no is not null) then
    v_ids := next_on_machines(p_job_no, p_count);
  end if;
  if coalesce(cardinality(v_ids), 0) < p_count then
    select v_ids || array_agg(run_id) into v_ids from (
      select run_id from outbox where job_no = p_job_no and not ready and run_id <> all(coalesce(v_ids, '{}'))
      order by run_id limit p_count - coalesce(cardinality(v_ids), 0) for update skip locked
    ) next;
  end if;
  if v_ids is null or exists (select 1 from jobs where id = p_job_no and cancel_requested_at is not null) then
    return 0;
  end if;
  insert into slots (run_id, job_no) select id, p_job_no from unnest(v_ids) id on conflict do nothing;
  update outbox set ready = true where run_id = any(v_ids);
  return cardinality(v_ids);
end $$;
