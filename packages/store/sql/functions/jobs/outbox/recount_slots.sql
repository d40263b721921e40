-- Makes slots agree with runs: deletes slots of ended runs, adds missing ones, passes free slots to waiting runs,
-- and makes unsent rows beyond the concurrency limit wait again. Returns the number of repairs.
create or replace function recount_slots(p_limit int) returns int
language plpgsql as $$
declare
  v_job_no bigint;
  v_free int;
  v_surplus bigint[];
  v_rows int;
  v_repairs int := 0;
begin
  delete from slots s where not exists (
    select 1 from runs r where r.id = s.run_id and r.status in ('queued', 'running'));
  get diagnostics v_rows = row_count;
  v_repairs := v_repairs + v_rows;

  insert into slots (run_id, job_no)
  select o.run_id, o.job_no from outbox o join jobs j on j.id = o.job_no
  where o.ready and o.sent_at is distinct from 'infinity' and j.concurrency is not null
    and not exists (select 1 from slots s where s.run_id = o.run_id)
  limit p_limit
  on conflict do nothing;
  get diagnostics v_rows = row_count;
  v_repairs := v_repairs + v_rows;

  for v_job_no in
    with recursive waiting as (
      (select job_no from outbox where not ready order by job_no limit 1)
      union all
      select (select o.job_no from outbox o where not o.ready and o.job_no > w.job_no order by o.job_no limit 1)
      from waiting w where w.job_no is not null
    )
    select w.job_no from waiting w join jobs j on j.id = w.job_no
    where coalesce(j.concurrency, 0) <> (select count(*) from slots s where s.job_no = w.job_no)
    order by w.job_no limit p_limit
  loop
    v_free := free_slots(v_job_no);
    v_repairs := v_repairs + ready_next(v_job_no, coalesce(v_free, 2147483647));
  end loop;

  for v_job_no, v_free in
    select s.job_no, j.concurrency - count(*) from slots s join jobs j on j.id = s.job_no
    group by s.job_no, j.concurrency having count(*) > j.concurrency order by s.job_no limit p_limit
  loop
    perform 1 from jobs where id = v_job_no for no key update;
    select array_agg(run_id) into v_surplus from (
      select run_id from outbox where job_no = v_job_no and ready and sent_at is null
      order by run_id desc limit -v_free for update skip locked
    ) surplus;
    update outbox set ready = false where run_id = any(v_surplus);
    delete from slots where run_id = any(v_surplus);
    v_repairs := v_repairs + coalesce(cardinality(v_surplus), 0);
  end loop;
  if v_repairs > 0 then
    perform notify_masters();
  end if;
  return v_repairs;
end $$;
