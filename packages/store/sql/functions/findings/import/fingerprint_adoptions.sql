-- The records that get the fingerprint of an item; see adopt_fingerprints.
create or replace function fingerprint_adoptions(p_workspace text, p_items jsonb)
returns table (id bigint, old_hash bytea, new_hash bytea, fingerprint text)
language sql stable as $$
  with items as materialized (
    select distinct on (i.old_hash) *
    from (select finding_hash(p_workspace, f.vuln_info, f.vuln_title, f.asset_value, f.asset_type, '') as old_hash,
            finding_hash(p_workspace, f.vuln_info, f.vuln_title, f.asset_value, f.asset_type, f.fingerprint) as new_hash,
            f.fingerprint, f.n
          from rows from (jsonb_to_recordset(p_items) as (
              vuln_info text, vuln_title text, asset_value text, asset_type text, fingerprint text))
            with ordinality as f(vuln_info, vuln_title, asset_value, asset_type, fingerprint, n)
          where f.fingerprint <> '') i
    where i.old_hash is not null order by i.old_hash, i.n
  )
  select v.id, i.old_hash, i.new_hash, i.fingerprint
  from items i cross join lateral (
    select v.id from vulnerabilities v where v.finding_hash = i.old_hash and v.holds limit 1) v
  where not exists (select from vulnerabilities k where k.finding_hash = i.new_hash and k.holds)
$$;
