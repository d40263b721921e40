-- Renews the lease of a worker. A late renewal counts too: a worker is lost only when the reaper has marked it.
-- False: the worker is unknown, lost or that of another process.
create or replace function renew_lease(p_secret text, p_worker_id text, p_busy int, p_draining boolean) returns boolean
language plpgsql as $$
begin
  update workers
  set lease_until = now() + lease_ms * interval '1 ms', last_heartbeat = now(),
      busy = coalesce(p_busy, busy), draining = coalesce(p_draining, draining)
  where id = p_worker_id and lost_at is null and secret_hash = secret_hash(p_secret);
  return found;
end $$;
