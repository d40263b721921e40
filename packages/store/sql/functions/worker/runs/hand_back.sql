-- Hands back runs that the worker does not finish.
create or replace function worker.hand_back(p_secret text, p_keys jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: batch
as $$
declare
  v_ids bigint[] := lock_owned(p_secret, p_keys);
begin
  if v_ids is not null then
    perform release_runs(v_ids);
  end if;
end $$;
