-- The folder that the files of known findings are relative to: the one below which most of the findings p_items, whose places
-- are absolute paths, are known. Null: none of them is known.
create or replace function known_folder(p_workspace text, p_items jsonb) returns text
language sql stable
-- planner: walk
as $$
  with items as materialized (
    select i.*, string_to_array(i.asset_value, '/') as parts
    from jsonb_to_recordset(p_items) as i(vuln_info text, vuln_title text, asset_value text, asset_type text, fingerprint text)
  ), places as materialized (
    select array_to_string(i.parts[:n], '/') as folder, finding_hash(p_workspace, i.vuln_info, i.vuln_title,
      array_to_string(i.parts[n + 1:], '/'), i.asset_type, i.fingerprint) as hash
    from items i cross join lateral generate_series(2, least(cardinality(i.parts) - 1, 50)) n
  )
  select p.folder from places p join vulnerabilities v on v.finding_hash = p.hash and v.holds
  group by p.folder order by count(*) desc, length(p.folder) limit 1
$$;
