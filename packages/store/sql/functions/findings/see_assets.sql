-- Counts the assets p_ids as seen, if their contents still are p_contents.
create or replace function see_assets(p_contents bytea[], p_ids bigint[], p_run_id bigint)
returns table (content bytea, id bigint)
language sql
-- planner: walk
set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off
as $$
  with locked as materialized (
    select t.asset_id from (
      select * from unnest(p_contents, p_ids) as k(content, id) order by k.id offset 0) k
    cross join lateral (
      select s.asset_id from asset_sightings s where s.asset_id = k.id and s.content_hash = k.content for update) t
  )
  update asset_sightings t
  set last_seen = greatest(t.last_seen, now()),
    times_seen = t.times_seen + case when t.last_run = p_run_id then 0 else 1 end,
    last_run = greatest(t.last_run, p_run_id)
  where t.asset_id = any(array(select l.asset_id from locked l))
  returning p_contents[array_position(p_ids, t.asset_id)], t.asset_id
$$;
