-- What the stored files say about CVEs: the highest score, and whether one is known to be exploited.
create or replace function cve_facts(p_cves text[], out epss double precision, out epss_percentile double precision,
  out kev boolean, out kev_due date)
language plpgsql stable as $$
begin
  select s.score, s.percentile into epss, epss_percentile
  from cve_scores s where s.cve = any(p_cves) order by s.score desc, s.percentile desc limit 1;
  select count(*) > 0, min(x.due) into kev, kev_due from exploited_cves x where x.cve = any(p_cves);
end $$;
