-- Records updates of running runs. Returns the keys that the caller no longer owns.
create or replace function worker.record(p_secret text, p_updates jsonb) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_ids bigint[] := apply_updates(p_secret, p_updates);
begin
  if cardinality(v_ids) = jsonb_array_length(p_updates) then
    return '[]';
  end if;
  return unowned_keys(p_updates, v_ids);
end $$;
