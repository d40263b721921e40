-- Defers the run that the next claim of a local run would take first.
create or replace function defer_local_run(p_secret text, p_worker_id text, p_reason text) returns void
language plpgsql as $$
declare
  v_id bigint := (select min(run_id) from lock_local_runs(1, true) as run_id);
begin
  if v_id is not null and renew_lease(p_secret, p_worker_id, null, null) then
    perform defer_run(v_id, p_reason);
  end if;
end $$;
