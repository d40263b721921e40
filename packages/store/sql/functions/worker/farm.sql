-- The first call of a worker: the id of the farm, generated on first use, and the name of the newest schema file in
-- the database.
create or replace function worker.farm() returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  update farm set farm_id = substr(replace(gen_random_uuid()::text, '-', ''), 1, 12) where farm_id = '';
  return jsonb_build_object(
    'farmId', (select farm_id from farm),
    'schemaVersion', (select name from schema_files order by name desc limit 1));
end $$;
