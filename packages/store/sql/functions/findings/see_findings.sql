-- Counts the findings p_ids as seen, if their contents still are p_contents. p_times are the results that stand for each.
create or replace function see_findings(p_contents bytea[], p_ids bigint[], p_times int[], p_run_id bigint, p_import uuid,
  p_part int)
returns table (content bytea, id bigint, merged boolean)
language sql
-- planner: walk
set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off
as $$
  with locked as materialized (
    select t.finding_id from (
      select * from unnest(p_contents, p_ids) as k(content, id) order by k.id offset 0) k
    cross join lateral (
      select s.finding_id from finding_sightings s where s.finding_id = k.id and s.content_hash = k.content
      for update) t
  )
  update finding_sightings t
  set last_seen = greatest(t.last_seen, now()),
    times_seen = t.times_seen + case when t.last_run = p_run_id or t.last_import = p_import then 0 else 1 end,
    last_run = greatest(t.last_run, p_run_id),
    occurrences = case when t.last_import = p_import and t.import_part <> p_part
      then t.occurrences + p_times[array_position(p_ids, t.finding_id)] else p_times[array_position(p_ids, t.finding_id)] end,
    last_import = p_import,
    import_part = case when t.last_import = p_import then t.import_part else p_part end
  where t.finding_id = any(array(select l.finding_id from locked l))
  returning p_contents[array_position(p_ids, t.finding_id)], t.finding_id, t.import_part <> p_part
$$;
