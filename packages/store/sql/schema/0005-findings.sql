-- requires: index_substrings, store_finding_once, store_asset_once, record_finding_change, derive_finding, severity_rank, cves_of, host_of, address_of, exposure_of, priority_points, priority_score, enrich_finding
-- Findings and assets, and what each scan saw of them. A record that names what and where has an identity; a later
-- sighting updates the record that holds the identity.

-- A finding: a weakness at a place. What scans see of it and what people decide about it are apart: a scan never changes
-- a decision. State, severity and tags follow from both, from rules, and from what the scanner reported: see
-- derived_fields.
create table vulnerabilities (
  id bigint generated always as identity primary key,
  workspace text collate "C" not null,
  vuln_info text not null,
  vuln_title text not null,
  vuln_desc text not null,
  vuln_poc text not null,
  severity text collate "C" not null check (severity in ('critical', 'high', 'medium', 'low', 'info')),
  confidence text collate "C" not null
    check (confidence in ('Certain', 'Firm', 'Tentative', 'Manual Review Required')),
  asset_type text not null,
  asset_value text not null,
  tags text[] not null,
  detail_http_request text not null,
  detail_http_response text not null,
  -- The record of the scanner, with markers in place of the two columns above: see shorten_raw.
  raw_vuln_json text not null,
  finding_hash bytea,
  -- Records that were created by hand may share an identity. One of them holds it, and imports update that one.
  holds boolean not null,
  source text not null,
  state text collate "C" not null default 'open' check (state in ('open', 'gone')),
  first_seen timestamptz not null default now(),
  -- When it was found, or found again after it was gone.
  opened_at timestamptz not null default now(),
  gone_at timestamptz,
  first_run bigint, -- refers to runs
  created_at timestamptz not null default now(),
  -- Changes with content and state; a mere sighting leaves it as it is.
  updated_at timestamptz not null default now(),
  -- What the tool says: a matcher, a commit, a column, the text of a line. Part of the identity.
  fingerprint text not null default '',
  -- By scans. not_tested: the last scan could not check it; unreachable: it did not reach the host.
  seen text not null,
  -- Why it is not open: the run, and what it did.
  seen_reason text not null default '',
  scan_severity text not null,
  scan_tags text[] not null,
  -- What a person decided: {"verdict": {"value", "reason", "until", "by", "at"}, "severity", "assignee", "add_tags",
  -- "remove_tags"}.
  decision jsonb not null default '{}',
  -- What rules set, and which rule: see rule_effects.
  ruled jsonb not null default '{}',
  verdict text not null default 'none',
  reason text not null default '',
  -- When an acceptance ends.
  until timestamptz,
  decided_by text not null default '',
  decided_at timestamptz,
  -- When a scan saw it again although a person had claimed that it is fixed.
  back_at timestamptz,
  assignee text not null default '',
  ticket text not null default '',
  cves text[] not null default '{}',
  -- Those of its CVE with the highest score; null: no score is known.
  epss float8,
  epss_percentile float8,
  kev boolean not null default false,
  kev_due date,
  constraint vulnerabilities_gone_at check ((state = 'gone') = (gone_at is not null)),
  constraint vulnerabilities_holds check (not holds or finding_hash is not null),
  constraint vulnerabilities_seen check (seen in ('open', 'gone', 'not_tested', 'unreachable')),
  constraint vulnerabilities_verdict
    check (verdict in ('none', 'confirmed', 'false_positive', 'accepted', 'fixed_claimed'))
) with (fillfactor = 90, toast_tuple_target = 512);
create unique index vulnerabilities_identity on vulnerabilities (finding_hash) where holds;
create index vulnerabilities_twins on vulnerabilities (finding_hash) where not holds and finding_hash is not null;
create index vulnerabilities_workspace on vulnerabilities (workspace, severity, confidence, state, id);
create index vulnerabilities_severity on vulnerabilities (severity, confidence, state, id);
create index vulnerabilities_tags on vulnerabilities using gin (tags);
create index vulnerabilities_opened on vulnerabilities (opened_at);
create index vulnerabilities_decided on vulnerabilities (verdict, id) where verdict <> 'none';
create index vulnerabilities_assignee on vulnerabilities (assignee, id) where assignee <> '';
create index vulnerabilities_until on vulnerabilities (until) where until is not null;
create index vulnerabilities_ruled on vulnerabilities using gin (ruled) where ruled <> '{}';
-- The events of the end of a job count the findings that its runs changed.
create index vulnerabilities_first_run on vulnerabilities (first_run) where first_run is not null;
create index vulnerabilities_order on vulnerabilities (severity_rank(severity), (-id), state, workspace);
create index vulnerabilities_kev on vulnerabilities (id) where kev;
create index vulnerabilities_epss on vulnerabilities (epss, id) where epss is not null;
create index vulnerabilities_priority
  on vulnerabilities ((-priority_score(severity, epss, kev, asset_type, asset_value)), (-id), state, workspace);
-- Imports insert findings in the form in which they are stored: the triggers before inserts are for all others.
create trigger finding_stored_once
  before update of vuln_desc, vuln_poc, detail_http_request, detail_http_response, raw_vuln_json
  on vulnerabilities
  for each row execute function store_finding_once();
create trigger finding_shortened before insert on vulnerabilities
  for each row when (strpos(new.raw_vuln_json, chr(1)) = 0) execute function store_finding_once();
create trigger finding_derived
  before update of seen, seen_reason, scan_severity, scan_tags, decision, ruled, back_at, source, vuln_info,
    vuln_title, asset_value
  on vulnerabilities
  for each row execute function derive_finding();
create trigger finding_added before insert on vulnerabilities
  for each row when (new.seen is null) execute function derive_finding();
create trigger finding_enriched
  before insert or update of vuln_info, tags, scan_tags, decision, ruled on vulnerabilities
  for each row when (new.cves <> '{}' or new.vuln_info ilike '%CVE-%' or new.tags::text ilike '%CVE-%')
  execute function enrich_finding();
create trigger finding_changed after update on vulnerabilities
  for each row
  when ((old.state, old.severity, old.confidence, old.tags, old.seen, old.verdict, old.reason, old.until, old.assignee,
         old.ticket, old.back_at is null)
        is distinct from (new.state, new.severity, new.confidence, new.tags, new.seen, new.verdict, new.reason, new.until,
         new.assignee, new.ticket, new.back_at is null))
  execute function record_finding_change();

-- A host, service, URL or other thing that a scan found to exist.
create table assets (
  id bigint generated always as identity primary key,
  workspace text collate "C" not null,
  asset_type text collate "C" not null,
  asset_value text not null,
  url text not null,
  host_ip text not null,
  scheme text not null,
  status_code int not null,
  title text not null,
  content_type text not null,
  technologies text[] not null,
  open_ports text[] not null,
  dns_records text[] not null,
  remarks text[] not null,
  raw_json_data text not null,
  asset_hash bytea not null,
  source text not null,
  state text collate "C" not null default 'open' check (state in ('open', 'gone')),
  first_seen timestamptz not null default now(),
  -- When it was found, or found again after it was gone.
  opened_at timestamptz not null default now(),
  gone_at timestamptz,
  first_run bigint, -- refers to runs
  created_at timestamptz not null default now(),
  -- Changes with content and state; a mere sighting leaves it as it is.
  updated_at timestamptz not null default now(),
  constraint assets_gone_at check ((state = 'gone') = (gone_at is not null))
) with (fillfactor = 90, toast_tuple_target = 512);
create unique index assets_identity on assets (asset_hash);
create index assets_workspace on assets (workspace, asset_type, status_code, state, id);
create index assets_type on assets (asset_type, status_code, state, id);
create index assets_technologies on assets using gin (technologies);
create index assets_ports on assets using gin (open_ports);
create index assets_opened on assets (opened_at);
create index assets_host_ip on assets (host_ip, id) where host_ip <> '';
create trigger asset_stored_once before update of raw_json_data on assets
  for each row when (new.raw_json_data = old.raw_json_data) execute function store_asset_once();

-- How a finding was seen last: apart from its texts, so that a sighting does not write the texts again.
create table finding_sightings (
  finding_id bigint primary key, -- refers to vulnerabilities
  -- The item of the last import, with its workspace and source: the same item changes nothing. Null: not known, or the
  -- record changed since.
  content_hash bytea,
  last_seen timestamptz not null,
  times_seen int not null,
  last_run bigint, -- refers to runs
  -- The results of the last import that were equal to this record.
  occurrences int not null,
  -- The last import, and the part of it that saw the record first: results of later parts are merged into it.
  last_import uuid,
  import_part int
) with (fillfactor = 50);
create index finding_sightings_content on finding_sightings (content_hash) where content_hash is not null;

-- How an asset was seen last; the columns are those of findings.
create table asset_sightings (
  asset_id bigint primary key, -- refers to assets
  content_hash bytea,
  last_seen timestamptz not null,
  times_seen int not null,
  last_run bigint -- refers to runs
) with (fillfactor = 50);
create index asset_sightings_content on asset_sightings (content_hash) where content_hash is not null;

-- Trigram indexes for partial matches, where the extension is available.
select index_substrings();

-- What makes two scans comparable: the same step of the same workflow with the same params on the same target.
create table scopes (
  id bigint generated always as identity primary key,
  workspace text collate "C" not null,
  workflow_name text collate "C" not null,
  target text collate "C" not null,
  step text collate "C" not null,
  scope_hash bytea not null unique,
  -- The params that select what is scanned. Null: not used since the column exists.
  scan_params jsonb
);
create index scopes_target on scopes (workspace, workflow_name, target);

-- One row for each step of an attempt that imported records, even if it imported none.
create table scans (
  run_id bigint not null, -- refers to runs
  attempt int not null,
  scope_id bigint not null references scopes,
  kind text collate "C" not null check (kind in ('vulnerability', 'asset')),
  errors int not null,
  judged_at timestamptz,
  -- Whether its imports named the hosts that the scan reached; if not, it reached its whole scope.
  names_hosts boolean not null default false,
  -- Whether its imports named what was not tested; then failed steps of its module concern these places only.
  names_untested boolean not null default false,
  primary key (run_id, attempt, scope_id, kind)
);
create index scans_open on scans (run_id) where judged_at is null;
create index scans_scope on scans (scope_id, run_id);

-- The hosts that a scan has named, until it is judged.
create table reached_hosts (
  run_id bigint not null, -- refers to runs
  attempt int not null,
  scope_id bigint not null, -- refers to scopes
  kind text collate "C" not null,
  host text collate "C" not null,
  -- Whether the scan could not look at it: a host, a port of it, a file, or one check at one of them. Its records stay
  -- open.
  failed boolean not null default false,
  check_id text not null default '',
  reason text not null default '',
  primary key (run_id, attempt, scope_id, kind, host, check_id)
);

create type untested_place as (place text, check_id text, reason text);

-- Ended runs that are not clean, and of whose scopes some may have had no scan, until they are judged.
create table unclean_runs (
  run_id bigint primary key -- refers to runs
);

-- The last scan of each scope that saw a record.
create table sightings (
  kind text collate "C" not null,
  -- By kind, the id of a finding or an asset.
  record_id bigint not null, -- refers to vulnerabilities, assets
  scope_id bigint not null, -- refers to scopes
  run_id bigint not null, -- refers to runs
  attempt int not null,
  primary key (kind, record_id, scope_id)
);
create index sightings_scope on sightings (scope_id, kind, run_id);

-- What each attempt saw, as it was then, for comparing runs; kept for the latest runs of a scope.
create table observations (
  run_id bigint not null, -- refers to runs
  attempt int not null,
  kind text collate "C" not null,
  record_id bigint not null, -- refers to vulnerabilities, assets
  seen jsonb not null,
  primary key (run_id, attempt, kind, record_id)
);

-- What was saved: its id, whether it is new, whether its content or state changed, whether it is open again, and whether
-- an earlier part of the same import saved it.
create type saved_record as (id bigint, created boolean, changed boolean, reopened boolean, merged boolean);

-- Changes of findings: the newest of each finding. Comments, and changes by hand, are kept apart from changes by scans.
create table finding_changes (
  id bigint generated always as identity primary key,
  vulnerability_id bigint not null references vulnerabilities on delete cascade,
  changed_at timestamptz not null default now(),
  -- The changed fields: {"state": {"from": "open", "to": "gone"}}.
  changes jsonb not null,
  -- Who changed it by hand, or ''.
  changed_by text not null,
  run_id bigint, -- refers to runs
  comment text not null default ''
);
create index finding_changes_finding on finding_changes (vulnerability_id, id);
create index finding_changes_run on finding_changes (run_id) where run_id is not null;

-- Rules that decide about findings: for each field the first rule by position that matches and sets it. Null: any, or not set.
create table finding_rules (
  id bigint generated always as identity primary key,
  name text not null,
  position int not null,
  -- Globs, ignoring case.
  check_glob text,
  title_glob text,
  -- Of the place, or of its host; if it is a network, that network contains the host.
  asset_glob text,
  network inet,
  workspace_glob text,
  -- Of the scanner.
  severities text[],
  -- Of the source, or of a tag of the scanner.
  tool_glob text,
  verdict text collate "C" check (verdict in ('confirmed', 'false_positive', 'accepted')),
  reason text not null,
  until timestamptz,
  severity text collate "C",
  assignee text,
  tags text[] not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index finding_rules_name on finding_rules (lower(name));

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
