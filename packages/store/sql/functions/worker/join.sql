-- Registers a worker. The secret is made by its process; all other functions ask for it.
create or replace function worker.join(p_secret text, p_worker jsonb) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  select join_farm(p_secret, p_worker || jsonb_build_object(
    'kind', 'worker', 'lease_ms', least((p_worker ->> 'lease_ms')::bigint, 3600000)))
$$;
