-- The contents and records of those items that change nothing: the open record of each was last imported with the same
-- content, and no other item has its identity. p_times are the results that the items stand for.
create or replace function known_findings(p_workspace text, p_items jsonb, p_contents bytea[], p_times int[])
returns table (content bytea, id bigint, times int)
language plpgsql stable
-- planner: walk
set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off
as $$
declare
  v_known bytea[];
  v_ids bigint[];
  v_times int[];
  v_changed bigint[];
begin
  select array_agg(k.content), array_agg(k.id), array_agg(k.times) into v_known, v_ids, v_times
  from (select t.content_hash as content, t.finding_id as id, sum(c.times) as times
        from unnest(p_contents, p_times) as c(content, times) join finding_sightings t on t.content_hash = c.content
        join vulnerabilities v on v.id = t.finding_id where v.holds and v.state = 'open'
        group by t.content_hash, t.finding_id) k;
  if v_known is null then
    return;
  end if;
  v_changed := array(
    select v.id
    from jsonb_to_recordset(p_items) as i(content text, vuln_info text, vuln_title text, asset_value text, asset_type text,
                                          fingerprint text)
    join vulnerabilities v on v.holds and v.finding_hash
      = finding_hash(p_workspace, i.vuln_info, i.vuln_title, i.asset_value, i.asset_type, i.fingerprint)
    where i.content is null or decode(i.content, 'hex') <> all(v_known));
  return query select k.content, k.id, k.times from unnest(v_known, v_ids, v_times) as k(content, id, times) where k.id <> all(v_changed);
end $$;
