-- Renews the lease of a worker. Returns what an operator wants the worker to do, for how long a stopped one still waits
-- for its runs, and its runs: which are to be cancelled, and whose logs are followed. The version tells it to read again
-- what runs may scan.
create or replace function worker.heartbeat(p_secret text, p_worker_id text, p_busy int, p_draining boolean) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: batch
as $$
begin
  if not renew_lease(p_secret, p_worker_id, p_busy, p_draining) then
    return '{"known": false, "runs": []}';
  end if;
  return (select jsonb_build_object('known', true, 'wanted', wanted, 'drainMs',
      ceil(greatest(0, extract(epoch from drain_until - now()) * 1000))::bigint) from workers where id = p_worker_id)
    || jsonb_build_object('scopesVersion', (select version from scopes_version), 'runs', (
    select coalesce(jsonb_agg(jsonb_build_object(
      'runId', id, 'attempt', attempt, 'cancelRequested', cancel_requested_at is not null,
      'followed', exists (select from log_follows f where f.run_id = runs.id and f.until > now())) order by id), '[]')
    from runs where worker_id = p_worker_id and status = 'running'));
end $$;
