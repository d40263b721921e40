-- Replaces the programs that a worker reports, with their versions.
create or replace function worker.report_tools(p_secret text, p_worker_id text, p_tools jsonb) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update workers set tools = p_tools where id = p_worker_id and lost_at is null and secret_hash = secret_hash(p_secret)
$$;
