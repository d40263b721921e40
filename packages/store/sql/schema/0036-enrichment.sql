-- requires: cves_of, host_of, address_of, exposure_of, severity_rank, priority_points, priority_score, enrich_finding
-- What files of other organisations say about CVEs, and the priority that follows from it.

-- Files about CVEs that are stored.
create table enrichments (
  kind text collate "C" primary key check (kind in ('epss', 'kev')),
  version text not null,
  published text not null,
  cves int not null,
  loaded_at timestamptz not null default now(),
  loaded_by text not null
);

-- Probabilities that CVEs are exploited within 30 days, of EPSS.
create table cve_scores (
  cve text collate "C" primary key,
  score float8 not null,
  percentile float8 not null
);

-- CVEs that are known to be exploited, of CISA.
create table exploited_cves (
  cve text collate "C" primary key,
  added date not null,
  due date
);

alter table vulnerabilities add column cves text[] not null default '{}';
-- Those of its CVE with the highest score; null: no score is known.
alter table vulnerabilities add column epss float8;
alter table vulnerabilities add column epss_percentile float8;
alter table vulnerabilities add column kev boolean not null default false;
alter table vulnerabilities add column kev_due date;
update vulnerabilities set cves = cves_of(vuln_info, tags) where cves_of(vuln_info, tags) <> '{}';

create index vulnerabilities_kev on vulnerabilities (id) where kev;
create index vulnerabilities_epss on vulnerabilities (epss, id) where epss is not null;
create index vulnerabilities_priority
  on vulnerabilities ((-priority_score(severity, epss, kev, asset_type, asset_value)), (-id), state, workspace);

create trigger finding_enriched
  before insert or update of vuln_info, tags, scan_tags, decision, ruled on vulnerabilities
  for each row when (new.cves <> '{}' or new.vuln_info ilike '%CVE-%' or new.tags::text ilike '%CVE-%')
  execute function enrich_finding();
