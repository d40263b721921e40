-- Counts the findings p_ids as seen, in the order of ids, if their contents still are p_contents. p_times are the results that
-- stand for each.
create or replace function see_findings(p_contents bytea[], p_ids bigint[], p_times int[], p_run_id bigint, p_import uuid,
  p_part int)
returns table (content bytea, id bigint, merged boolean)
language sql
-- planner: backlog
as $$
  with times as materialized (select 1 = all(p_times) as are_one)
  update finding_sightings t
  set last_seen = greatest(t.last_seen, now()),
    times_seen = t.times_seen + case when t.last_run = p_run_id or t.last_import = p_import then 0 else 1 end,
    last_run = greatest(t.last_run, p_run_id),
    occurrences = case when t.last_import = p_import and t.import_part <> p_part then t.occurrences else 0 end
      + case when (select o.are_one from times o) then 1 else p_times[array_position(p_ids, t.finding_id)] end,
    last_import = p_import,
    import_part = case when t.last_import = p_import then t.import_part else p_part end
  where t.finding_id = any(p_ids) and t.content_hash = p_contents[array_position(p_ids, t.finding_id)]
  returning t.content_hash, t.finding_id, t.import_part <> p_part
$$;
