-- The contents and records of those items that change nothing; the rules are those of known_findings.
create or replace function known_assets(p_workspace text, p_items jsonb, p_contents bytea[])
returns table (content bytea, id bigint, items bigint)
language plpgsql stable
-- planner: walk
as $$
declare
  v_known bytea[];
  v_ids bigint[];
  v_items bigint[];
  v_changed bigint[] := '{}';
begin
  select array_agg(k.content), array_agg(k.id), array_agg(k.items) into v_known, v_ids, v_items
  from (select t.content_hash as content, t.asset_id as id, count(*) as items
        from unnest(p_contents) as c(content)
        cross join lateral (select * from asset_sightings s where s.content_hash = c.content offset 0) t
        cross join lateral (select from assets a where a.id = t.asset_id and a.state = 'open' offset 0) a
        group by t.content_hash, t.asset_id) k;
  if v_known is null then
    return;
  end if;
  if (select sum(n) from unnest(v_items) n) < cardinality(p_contents) then
    v_changed := array(
      select a.id from jsonb_to_recordset(p_items) as i(content text, asset_value text, url text)
      cross join lateral (
        select k.id from assets k where k.asset_hash = asset_hash(p_workspace, i.asset_value, i.url) offset 0) a
      where i.content is null or decode(i.content, 'hex') not in (select unnest(v_known)));
  end if;
  return query
    select k.content, k.id, k.items from unnest(v_known, v_ids, v_items) as k(content, id, items)
    where k.id not in (select unnest(v_changed));
end $$;
