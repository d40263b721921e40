-- Renews what findings have of the stored files; returns how many changed. Imports wait until the transaction ends: so each
-- finding meets either the old files and this change, or the new files. Rows are locked in the order of identities.
create or replace function enrich_findings() returns int
language plpgsql as $$
declare
  v_changed int;
begin
  lock table finding_rules in access exclusive mode;
  with stale as materialized (
    select v.id, f.* from vulnerabilities v cross join lateral cve_facts(v.cves) f
    where v.cves <> '{}'
      and (v.epss, v.epss_percentile, v.kev, v.kev_due) is distinct from (f.epss, f.epss_percentile, f.kev, f.kev_due)
    order by v.finding_hash, v.id for update of v
  )
  update vulnerabilities v
  set epss = s.epss, epss_percentile = s.epss_percentile, kev = s.kev, kev_due = s.kev_due
  from stale s where s.id = v.id;
  get diagnostics v_changed = row_count;
  return v_changed;
end $$;
