-- requires: index_substrings, store_finding_once, store_asset_once
-- Findings and assets, what each scan saw of them, and the workspaces to which they belong. A record that names what and
-- where has an identity; a later sighting updates the record that holds the identity.

-- A finding: a weakness at a place.
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
  last_seen timestamptz not null default now(),
  -- When it was found, or found again after it was gone.
  opened_at timestamptz not null default now(),
  gone_at timestamptz,
  times_seen int not null default 1,
  first_run bigint, -- refers to runs
  last_run bigint, -- refers to runs
  created_at timestamptz not null default now(),
  -- Changes with content and state; a mere sighting leaves it as it is.
  updated_at timestamptz not null default now(),
  constraint vulnerabilities_gone_at check ((state = 'gone') = (gone_at is not null)),
  constraint vulnerabilities_holds check (not holds or finding_hash is not null)
) with (fillfactor = 90, toast_tuple_target = 512);
create unique index vulnerabilities_identity on vulnerabilities (finding_hash) where holds;
create index vulnerabilities_twins on vulnerabilities (finding_hash) where not holds and finding_hash is not null;
create index vulnerabilities_workspace on vulnerabilities (workspace, severity, confidence, state, id);
create index vulnerabilities_severity on vulnerabilities (severity, confidence, state, id);
create trigger finding_stored_once
  before insert or update of vuln_desc, vuln_poc, detail_http_request, detail_http_response, raw_vuln_json
  on vulnerabilities
  for each row execute function store_finding_once();

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
  last_seen timestamptz not null default now(),
  -- When it was found, or found again after it was gone.
  opened_at timestamptz not null default now(),
  gone_at timestamptz,
  times_seen int not null default 1,
  first_run bigint, -- refers to runs
  last_run bigint, -- refers to runs
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
create trigger asset_stored_once before update of raw_json_data on assets
  for each row when (new.raw_json_data = old.raw_json_data) execute function store_asset_once();

-- Trigram indexes for partial matches, where the extension is available.
select index_substrings();

-- What makes two scans comparable: the same step of the same workflow with the same params on the same target.
create table scopes (
  id bigint generated always as identity primary key,
  workspace text collate "C" not null,
  workflow_name text collate "C" not null,
  target text collate "C" not null,
  step text collate "C" not null,
  scope_hash bytea not null unique
);

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
  primary key (run_id, attempt, scope_id, kind, host)
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

-- What was saved: its id, whether it is new, whether its content or state changed, whether it is open again.
create type saved_record as (id bigint, created boolean, changed boolean, reopened boolean);

-- Counters that workflows keep for a workspace.
create table workspace_counters (
  workspace text collate "C" not null,
  name text collate "C" not null,
  value bigint not null,
  primary key (workspace, name)
);

-- Named sets of workspaces; a workspace that no row assigns belongs to the default one, so that a new one needs no row.
create table orgs (
  uuid uuid primary key,
  name text not null,
  description text not null,
  tags text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index orgs_name on orgs (lower(name));
insert into orgs (uuid, name, description, tags)
values ('00000000-0000-0000-0000-000000000001', 'default', 'Workspaces that no other organisation has', '{}');

-- The organisation of a workspace.
create table org_workspaces (
  workspace text collate "C" primary key,
  org uuid not null references orgs on delete cascade
);
create index org_workspaces_org on org_workspaces (org, workspace);

-- Workspaces that lost a run to retention; machines remove the folders of those without any run.
create table pruned_workspaces (
  workspace text collate "C" primary key,
  pruned_at timestamptz not null default now()
);
create index pruned_workspaces_age on pruned_workspaces (pruned_at);
