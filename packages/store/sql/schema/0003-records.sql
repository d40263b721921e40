-- requires: add_partition, keep_partitions_ahead, keep_all_partitions_ahead, bound_event, log_ended_steps, writes_history
-- The records of runs: steps, artifacts and events; and workspaces. Steps and events are partitioned by ranges of ids,
-- so that old ranges can be dropped as a whole.

-- The steps of each attempt of a run.
create table steps (
  run_id bigint not null, -- refers to runs
  attempt int not null,
  seq int not null,
  id uuid not null,
  name text not null,
  type text not null,
  module text not null,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'skipped', 'cancelled')),
  command text not null,
  output text not null,
  error_message text not null,
  exports jsonb not null,
  exit_code int,
  duration_ms bigint not null,
  -- The key of its log in the artifact store.
  log_file text not null,
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  -- {runUuid, attempt} that executed the step; null: the attempt itself.
  taken_from jsonb,
  primary key (run_id, attempt, seq),
  constraint steps_completed_at check ((status not in ('pending', 'running')) = (completed_at is not null))
) partition by range (run_id);
create table steps_rest partition of steps default;
create trigger steps_inserted after insert on steps
  referencing new table as written for each statement when (not writes_history()) execute function log_ended_steps();
create trigger steps_updated after update on steps
  referencing new table as written for each statement execute function log_ended_steps();

-- Files that a run has stored in the artifact store.
create table artifacts (
  run_id bigint not null, -- refers to runs
  attempt int not null,
  id uuid not null,
  name text not null,
  path text not null,
  type text not null check (type in ('report', 'state_file', 'output', 'screenshot')),
  content_type text not null,
  size_bytes bigint not null,
  line_count bigint not null,
  description text not null,
  store_key text not null,
  sha256 text not null,
  created_at timestamptz not null default now(),
  primary key (run_id, attempt, id)
);

-- Everything that happened, in the order of ids; triggers and webhooks read it.
create table event_logs (
  id bigint generated always as identity,
  topic text collate "C" not null,
  event_id text not null,
  name text collate "C" not null,
  source text collate "C" not null,
  data_type text not null,
  data text not null,
  workspace text collate "C" not null,
  -- The UUID of a run, or ''.
  run_id text collate "C" not null, -- refers to runs
  workflow_name text collate "C" not null,
  -- Whether triggers have dealt with it.
  processed boolean not null,
  processed_at timestamptz,
  error text not null default '',
  created_at timestamptz not null default now(),
  -- The transaction that wrote it. An id that was drawn earlier may be committed later, so readers that must not miss an
  -- event read by (tx, id), below the oldest open transaction.
  tx xid8 not null default pg_current_xact_id(),
  -- Until then a master works on it: a hint that spares other masters the same work, not a lock.
  claimed_until timestamptz,
  primary key (id),
  constraint event_logs_processed_at check (processed = (processed_at is not null))
) partition by range (id);
create table event_logs_rest partition of event_logs default;
create index event_logs_topic on event_logs (topic, id);
create index event_logs_name on event_logs (name, id);
-- Nearly every event is written by the executor: those are found by reading backwards, the others by this index.
create index event_logs_source on event_logs (source, id) where source <> 'executor';
create index event_logs_workspace on event_logs (workspace, id);
create index event_logs_run on event_logs (run_id, id);
create index event_logs_workflow on event_logs (workflow_name, id);
create index event_logs_unprocessed on event_logs (id) where not processed;
create index event_logs_feed on event_logs (tx, id);
-- A worker that records an event checks whether the run has it already.
create index event_logs_run_id_event_id_idx on event_logs (run_id, event_id);
create trigger event_bounded before insert on event_logs for each row
  when (octet_length(new.data) > 1048576 or octet_length(new.topic) > 256 or octet_length(new.name) > 256
        or octet_length(new.source) > 256 or octet_length(new.data_type) > 256)
  execute function bound_event();

-- Runs whose logs a client follows: their workers store live copies until the given time. A crash may empty the table;
-- masters renew the rows.
create unlogged table log_follows (
  run_id bigint primary key, -- refers to runs
  until timestamptz not null
);

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

select keep_all_partitions_ahead();
