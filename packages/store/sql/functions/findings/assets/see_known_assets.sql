-- Counts assets as seen, without a run, if the items with p_contents change nothing; the rules are those of
-- see_known_findings.
create or replace function see_known_assets(p_contents bytea[]) returns jsonb
language plpgsql as $$
declare
  v_known bytea[];
  v_ids bigint[];
  v_items int;
  v_saved saved_record[];
begin
  select array_agg(k.content), array_agg(k.id), coalesce(sum(k.items), 0) into v_known, v_ids, v_items
  from known_assets('', '[]', p_contents) k;
  if v_items < cardinality(p_contents) then
    return null;
  end if;
  select array_agg((s.id, false, false, false, false)::saved_record) into v_saved
  from see_assets(v_known, v_ids, null) s;
  if coalesce(cardinality(v_saved), 0) < cardinality(v_known) then
    raise serialization_failure;
  end if;
  return import_counts(v_saved, v_items);
exception
  when serialization_failure then
    return null;
end $$;
