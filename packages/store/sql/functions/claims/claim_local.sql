-- Claims local runs straight from the outbox. Paused slots get none. Not for workers: these runs are for the slots of masters.
create or replace function claim_local(p_secret text, p_worker_id text, p_limit int) returns json
language plpgsql
-- planner: walk
as $$
declare
  v_ids bigint[];
begin
  if not renew_lease(p_secret, p_worker_id, null, null)
     or not exists (select from workers where id = p_worker_id and wanted = 'running') then
    return '[]';
  end if;
  v_ids := startable_runs(p_worker_id, array(select lock_local_runs(p_limit, may_start_suspect(p_worker_id))));
  return case when cardinality(v_ids) = 0 then '[]' else try_assign_runs(p_worker_id, v_ids) end;
end $$;
