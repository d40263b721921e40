-- The contents and records of those items that change nothing: the record of each is seen, and was last imported with the same
-- content, and no other item has its identity. p_results are the results that the items stand for. Also returns how many
-- items and results have the content.
create or replace function known_findings(p_workspace text, p_items jsonb, p_contents bytea[], p_results int[])
returns table (content bytea, id bigint, items bigint, results int)
language plpgsql stable
-- planner: walk
as $$
declare
  v_known bytea[];
  v_ids bigint[];
  v_items bigint[];
  v_results int[];
  v_changed bigint[] := '{}';
begin
  select array_agg(k.content), array_agg(k.id), array_agg(k.items), array_agg(k.results)
  into v_known, v_ids, v_items, v_results
  from (select t.content_hash as content, t.finding_id as id, count(*) as items, sum(c.results) as results
        from unnest(p_contents, p_results) as c(content, results)
        cross join lateral (select * from finding_sightings s where s.content_hash = c.content offset 0) t
        cross join lateral (
          select from vulnerabilities v where v.id = t.finding_id and v.holds and v.seen = 'open'
            and (v.verdict <> 'fixed_claimed' or v.back_at is not null) offset 0) v
        group by t.content_hash, t.finding_id) k;
  if v_known is null then
    return;
  end if;
  if (select sum(n) from unnest(v_items) n) < cardinality(p_contents) then
    v_changed := array(
      select v.id
      from jsonb_to_recordset(p_items) as i(content text, vuln_info text, vuln_title text, asset_value text,
                                            asset_type text, fingerprint text)
      cross join lateral (
        select k.id from vulnerabilities k where k.holds and k.finding_hash
          = finding_hash(p_workspace, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type, i.fingerprint) offset 0) v
      where i.content is null or decode(i.content, 'hex') not in (select unnest(v_known)));
  end if;
  return query
    select k.content, k.id, k.items, k.results from unnest(v_known, v_ids, v_items, v_results) as k(content, id, items, results)
    where k.id not in (select unnest(v_changed));
end $$;
