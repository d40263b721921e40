-- The JSON text of a pinned workflow.
create or replace function worker.workflow(p_hash text) returns text
language sql stable security definer set search_path = pg_catalog, public, pg_temp
as $$ select json from pinned_workflows where hash = p_hash $$;
