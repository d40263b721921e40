-- Counts findings as seen, without a run, if the items with p_contents change nothing. Null: at least one does, and none counts.
-- p_results are the results that the items stand for.
create or replace function see_known_findings(p_contents bytea[], p_results int[], p_import uuid, p_part int)
returns jsonb
language plpgsql as $$
declare
  v_known bytea[];
  v_ids bigint[];
  v_results int[];
  v_items int;
  v_saved saved_record[];
begin
  select array_agg(k.content), array_agg(k.id), array_agg(k.results), coalesce(sum(k.items), 0)
  into v_known, v_ids, v_results, v_items
  from known_findings('', '[]', p_contents, p_results) k;
  if v_items < cardinality(p_contents) then
    return null;
  end if;
  select array_agg((s.id, false, false, false, coalesce(s.merged, false))::saved_record) into v_saved
  from see_findings(v_known, v_ids, v_results, null, p_import, p_part) s;
  if coalesce(cardinality(v_saved), 0) < cardinality(v_known) then
    -- Another transaction has changed a record in between.
    raise serialization_failure;
  end if;
  return import_counts(v_saved, v_items);
exception
  when serialization_failure then
    return null;
end $$;
