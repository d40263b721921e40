-- The keys of the artifact store that no row of their run names and none ever will, because their attempt is over.
-- Keys of runs that this farm does not have are left out: another farm may share the store.
create or replace function worker.stray_keys(p_secret text, p_run_uuids uuid[], p_attempts int[], p_keys text[]) returns jsonb
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp
-- planner: lookup
as $$
begin
  perform demand_worker(p_secret);
  return (
    with asked as materialized (
      select k.key, r.id as run_id, r.outcome
      from unnest(p_run_uuids, p_attempts, p_keys) as k(run_uuid, attempt, key)
      cross join lateral (select id, attempt, status, outcome from runs where run_uuid = k.run_uuid offset 0) r
      where r.status <> 'running' or r.attempt <> k.attempt
    ), named as (
      select n.key
      from (select distinct run_id from asked) a
      cross join lateral (
        select store_key as key from artifacts where run_id = a.run_id
        union all select log_file from steps where run_id = a.run_id and log_file <> ''
        offset 0) n
    ), stray as (select key from asked
               -- A later attempt or a retry may take over what they hold.
               where outcome = 'clean' or key !~ '^runs/[^/]+/[0-9]+/resume/'
               except select key from named)
    select coalesce(jsonb_agg(key), '[]') from stray);
end $$;
