-- Saves findings: items that change nothing only count as seen, others are saved by save_changed_findings. A record counts
-- as seen once for each run, and once for each import without a run. Records that change are locked before sightings,
-- and sightings in the order of ids, so that an import does not deadlock with a judge of scans.
create or replace function save_vulnerabilities(p_workspace text, p_items jsonb, p_run_id bigint, p_source text,
  p_import uuid, p_part int)
returns setof saved_record
language plpgsql as $$
declare
  v_contents bytea[];
  v_results int[];
  v_seen_results int[];
  v_known bytea[];
  v_ids bigint[];
  v_items int;
  v_seen bytea[];
  v_merged boolean[];
begin
  perform set_config('scanfarm.changing_run', coalesce(p_run_id::text, ''), true);
  select array_agg(decode(i.content, 'hex')), array_agg(coalesce(i.occurrences, 1)) into v_contents, v_results
  from jsonb_to_recordset(p_items) as i(content text, occurrences int);
  for turn in 1..2 loop
    select coalesce(array_agg(k.content), '{}'), array_agg(k.id), array_agg(k.results), coalesce(sum(k.items), 0)
    into v_known, v_ids, v_seen_results, v_items
    from known_findings(p_workspace, p_items, v_contents, v_results) k;
    exit when v_items = jsonb_array_length(p_items) or not adopt_fingerprints(p_workspace, p_items);
  end loop;
  if v_items < jsonb_array_length(p_items) then
    return query select * from save_changed_findings(p_workspace, p_items, p_run_id, p_source, p_import, p_part, v_known);
  end if;
  if v_ids is null then
    return;
  end if;
  select array_agg(s.content), array_agg(s.id), array_agg(s.merged) into v_seen, v_ids, v_merged
  from see_findings(v_known, v_ids, v_seen_results, p_run_id, p_import, p_part) s;
  return query select s.id, false, false, false, coalesce(s.merged, false) from unnest(v_ids, v_merged) as s(id, merged);
  if coalesce(cardinality(v_seen), 0) < cardinality(v_known) then
    -- Another transaction has changed a record in between.
    return query select * from save_changed_findings(p_workspace, items_with(p_items, v_known, v_seen), p_run_id,
      p_source, p_import, p_part, '{}');
  end if;
end $$;
