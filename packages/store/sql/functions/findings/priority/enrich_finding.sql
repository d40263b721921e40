-- Trigger: finds the CVEs of a finding, and what the stored files say about them.
create or replace function enrich_finding() returns trigger
language plpgsql as $$
begin
  new.cves := cves_of(new.vuln_info, new.tags);
  select f.epss, f.epss_percentile, f.kev, f.kev_due
  into new.epss, new.epss_percentile, new.kev, new.kev_due from cve_facts(new.cves) f;
  return new;
end $$;
