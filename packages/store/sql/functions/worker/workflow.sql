-- The JSON text of a pinned workflow.
create or replace function worker.workflow(p_secret text, p_hash text) returns text
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform demand_worker(p_secret);
  return (select json from pinned_workflows where hash = p_hash);
end $$;
