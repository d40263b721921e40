-- requires: bump_scopes_version

-- What may be scanned: see allows in contracts.
create table scan_scopes (
  id bigint generated always as identity primary key,
  name text not null,
  allowed text[] not null,
  denied text[] not null,
  owner text not null,
  note text not null,
  valid_from timestamptz,
  valid_until timestamptz,
  -- [{days, from, to}] in the zone.
  windows jsonb not null,
  zone text not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index scan_scopes_name on scan_scopes (lower(name));

-- The scope of every run in a workspace.
create table scope_workspaces (
  workspace text collate "C" primary key,
  scope_no bigint not null -- refers to scan_scopes
);
create index scope_workspaces_scope on scope_workspaces (scope_no, workspace);

-- What no run may scan.
create table never_scan (
  id bigint generated always as identity primary key,
  entry text collate "C" not null,
  reason text not null,
  until timestamptz,
  -- "": all workflows
  workflow text collate "C" not null,
  created_by text not null,
  created_at timestamptz not null default now()
);
create unique index never_scan_entry on never_scan (entry, workflow);

-- Grows with each change of the three tables above; 0: there was none. One row.
create table scopes_version (
  version bigint not null
);
insert into scopes_version values (0);
create trigger scopes_changed after insert or update or delete on scan_scopes
  for each statement execute function bump_scopes_version();
create trigger scopes_changed after insert or update or delete on scope_workspaces
  for each statement execute function bump_scopes_version();
create trigger scopes_changed after insert or update or delete on never_scan
  for each statement execute function bump_scopes_version();

-- Targets that were not scanned.
create table refusals (
  id bigint generated always as identity primary key,
  -- Null: no job was created.
  job_no bigint, -- refers to jobs
  run_id bigint, -- refers to runs
  attempt int,
  -- Of the attempt: a batch that is written twice creates one row.
  seq int,
  place text not null,
  target text not null,
  reason text not null,
  created_at timestamptz not null default now()
);
create index refusals_job on refusals (job_no, id) where job_no is not null;
create index refusals_of_runs on refusals (job_no) where run_id is not null;
create unique index refusals_run on refusals (run_id, attempt, seq) where run_id is not null;
create index refusals_age on refusals (created_at);

-- Refers to scan_scopes; null: that of its workspace applies alone.
alter table jobs add column scope_no bigint;
-- Targets of its request that were refused; those that its runs met are in refusals.
alter table jobs add column refused int not null default 0;
