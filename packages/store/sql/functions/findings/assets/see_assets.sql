-- Counts the assets p_ids as seen, in the order of ids, if their contents still are p_contents.
create or replace function see_assets(p_contents bytea[], p_ids bigint[], p_run_id bigint)
returns table (content bytea, id bigint)
language sql
-- planner: backlog
as $$
  update asset_sightings t
  set last_seen = greatest(t.last_seen, now()),
    times_seen = t.times_seen + case when t.last_run = p_run_id then 0 else 1 end,
    last_run = greatest(t.last_run, p_run_id)
  where t.asset_id = any(p_ids) and t.content_hash = p_contents[array_position(p_ids, t.asset_id)]
  returning t.content_hash, t.asset_id
$$;
