-- The fence of all writes by workers: locks the runs that p_keys ({runId, attempt}) name, in the order of their ids,
-- and returns those that the process with this secret runs in exactly that attempt. Runs of others are not locked.
create or replace function lock_owned(p_secret text, p_keys jsonb) returns bigint[]
language plpgsql
-- planner: batch
as $$
declare
  v_named bigint[] := array(select "runId" from jsonb_to_recordset(p_keys) as k("runId" bigint));
  v_workers text[] := own_workers(p_secret);
begin
  return array_agg(r.id)
  from (select id, attempt, status from runs
        where id = any(v_named) and worker_id || '' = any(v_workers) order by id offset 0 for update) r
  join jsonb_to_recordset(p_keys) as k("runId" bigint, attempt int) on k."runId" = r.id and k.attempt = r.attempt
  where r.status = 'running';
end $$;
