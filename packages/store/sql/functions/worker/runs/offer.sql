-- Replaces the capabilities of a worker.
create or replace function worker.offer(p_secret text, p_worker_id text, p_capabilities text[]) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  update workers set capabilities = p_capabilities where id = p_worker_id and lost_at is null and secret_hash = secret_hash(p_secret)
$$;
