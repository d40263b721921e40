-- The running runs among p_run_uuids, with their present attempt. One index lookup for each.
create or replace function worker.live_attempts(p_secret text, p_run_uuids uuid[]) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp
-- planner: lookup
as $$
begin
  perform demand_worker(p_secret);
  return (
    select coalesce(jsonb_agg(jsonb_build_object('runUuid', run_uuid, 'attempt', attempt)), '[]')
    from runs where run_uuid = any(p_run_uuids) and status || '' = 'running');
end $$;
