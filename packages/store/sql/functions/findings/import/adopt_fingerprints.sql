-- Gives a record without a fingerprint the one of an item that has its identity in all other respects: so a record stays
-- the same when its tool, or the import, begins to tell results apart. Of several such items the first one gets it. The lock
-- comes before those of rows, so that imports which change identities do not deadlock. True: an identity changed.
create or replace function adopt_fingerprints(p_workspace text, p_items jsonb) returns boolean
language plpgsql as $$
declare
  v_ids bigint[];
  v_old bytea[];
begin
  if not exists (select from jsonb_array_elements(p_items) i where coalesce(i ->> 'fingerprint', '') <> '') then
    return false;
  end if;
  perform 1 from fingerprint_adoptions(p_workspace, p_items) limit 1;
  if not found then
    return false;
  end if;
  perform acquire_lock('fingerprints');
  with adopted as (
    update vulnerabilities v set finding_hash = a.new_hash, fingerprint = a.fingerprint
    from fingerprint_adoptions(p_workspace, p_items) a where v.id = a.id
    returning a.old_hash
  )
  select array_agg(old_hash) into v_old from adopted;
  -- The old identity passes to the oldest twin, as after a deletion.
  select array_agg(first) into v_ids
  from (select min(id) as first from vulnerabilities where finding_hash = any(v_old) and not holds group by finding_hash) t;
  update vulnerabilities set holds = true where id = any(v_ids);
  return true;
end $$;
