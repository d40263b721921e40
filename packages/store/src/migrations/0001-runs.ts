import { sql, type Kysely } from 'kysely'

/**
 * Jobs, runs and what surrounds them. Columns common to all runs of a job stand on `jobs`; `runs` repeats only what
 * a filter needs. Nothing that changes while a run is running is indexed, so that progress updates stay inside their
 * page (heap-only tuples); updated_at, completed_at and current_pid must never get an index. Indexed text is compared
 * bytewise, whatever the locale of the database: filters are exact, and comparing is most of what an insert costs.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
}

const TABLES = `
create table farm (
  only_row boolean primary key default true check (only_row),
  farm_id text not null default '',
  signing_key bytea,
  workflows_version bigint not null default 0,
  reaper_turn_at timestamptz,
  reaper_hold_until timestamptz,
  mass_expiry_since timestamptz
);
insert into farm default values;

create table pinned_workflows (
  hash text primary key,
  json text not null,
  created_at timestamptz not null default now()
);

create table uploaded_workflows (
  kind text not null check (kind in ('flow', 'module')),
  name text not null,
  yaml text not null,
  hash text not null,
  uploaded_by text not null,
  updated_at timestamptz not null default now(),
  primary key (kind, name)
);

create table jobs (
  id bigint generated always as identity primary key,
  job_id text not null unique check (job_id ~ '^[0-9a-f]{16}$'),
  workflow_name text not null,
  workflow_kind text not null check (workflow_kind in ('flow', 'module')),
  workflow_hash text not null references pinned_workflows,
  params jsonb not null,
  priority text not null check (priority in ('low', 'normal', 'high', 'critical')),
  run_mode text not null check (run_mode in ('local', 'distributed', 'cloud')),
  runner_type text not null check (runner_type in ('host', 'docker', 'ssh')),
  runner_given boolean not null,
  docker_image text not null,
  ssh_host text not null,
  timeout_minutes int check (timeout_minutes > 0),
  concurrency int check (concurrency > 0),
  requirement_class text not null,
  trigger_type text not null check (trigger_type in ('manual', 'cron', 'event', 'watch')),
  trigger_name text not null,
  schedule_id text not null,
  event_envelope text not null,
  starts boolean not null,
  target_count int not null check (target_count > 0),
  cancel_requested_at timestamptz,
  created_at timestamptz not null default now()
);
create index jobs_bounded on jobs (id) where concurrency is not null;

-- Targets of a large job that have no run yet; a row is one chunk and goes in the transaction that makes its runs.
create table job_targets (
  job_no bigint not null references jobs,
  chunk int not null,
  targets text[] not null,
  workspaces text[] not null check (cardinality(workspaces) = cardinality(targets)),
  primary key (job_no, chunk)
);

-- job_no has no foreign key: it would cost a trigger call for each of a job's runs, and only insert_runs writes here.
create table runs (
  id bigint generated always as identity primary key,
  run_uuid uuid not null,
  job_no bigint not null,
  workflow_name text collate "C" not null,
  run_mode text collate "C" not null,
  status text collate "C" not null
    check (status in ('pending', 'queued', 'running', 'completed', 'failed', 'cancelled')),
  target text collate "C" not null,
  workspace text collate "C" not null,
  epoch int not null default 0,
  attempt int not null default 0,
  crashes int not null default 0,
  -- The attempt whose owner reported the end: a repeated report is then known for one.
  reported_attempt int,
  worker_id text collate "C" not null default '',
  cancel_requested_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  total_steps int not null default 0,
  completed_steps int not null default 0,
  current_pid int not null default 0,
  error_message text not null default '',
  facts jsonb not null default '{}',
  killed_pids int[] not null default '{}',
  -- No event of this run has a smaller id; it spares the search for doubles the older partitions.
  event_floor bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint runs_completed_at check ((status in ('completed', 'failed', 'cancelled')) = (completed_at is not null)),
  constraint runs_owner check (status <> 'running' or (worker_id <> '' and attempt > 0 and started_at is not null)),
  constraint runs_current_pid check (current_pid = 0 or status = 'running'),
  constraint runs_progress check (completed_steps between 0 and total_steps)
) with (fillfactor = 80);
create unique index runs_uuid on runs (run_uuid);
create index runs_status on runs (status, id);
create index runs_workflow on runs (workflow_name, status, id);
create index runs_target on runs (target, id);
create index runs_workspace on runs (workspace, id);
create index runs_job on runs (job_no, id);
-- A row is in one of the three, and at its right end: far cheaper than one index on (run_mode, id).
create index runs_local on runs (id) where run_mode = 'local';
create index runs_distributed on runs (id) where run_mode = 'distributed';
create index runs_cloud on runs (id) where run_mode = 'cloud';
create index runs_owned on runs (worker_id) where status = 'running';

-- What is to be started: queue messages still to be sent, and local runs until a local slot takes them. Marks of the
-- dispatcher stand here and not on runs, where they would deadlock with the batched writes of workers.
create table outbox (
  run_id bigint primary key,
  epoch int not null,
  job_no bigint not null,
  run_mode text not null check (run_mode in ('local', 'distributed')),
  rank smallint not null,
  class text collate "C" not null,
  ready boolean not null,
  sent_at timestamptz
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
create index outbox_queue on outbox (class, rank, run_id) where ready and sent_at is null and run_mode = 'distributed';
create index outbox_sent on outbox (sent_at) where sent_at is not null;
create index outbox_local on outbox (rank, run_id) where ready and run_mode = 'local';
create index outbox_waiting on outbox (job_no, run_id) where not ready;

-- One row per slot in use of a job with a concurrency: from the moment its run may start until the run has ended.
create table slots (
  run_id bigint primary key,
  job_no bigint not null
);
create index slots_job on slots (job_no);

create table workers (
  id text collate "C" primary key,
  name text not null,
  hostname text not null,
  pid int not null,
  version text not null,
  kind text not null check (kind in ('worker', 'server')),
  slots int not null,
  busy int not null default 0,
  draining boolean not null default false,
  capabilities text[] not null,
  lease_ms int not null check (lease_ms > 0),
  lease_until timestamptz not null,
  -- Set once, by the reaper: this incarnation never owns a run again.
  lost_at timestamptz,
  joined_at timestamptz not null default now(),
  last_heartbeat timestamptz not null default now()
) with (fillfactor = 70);
`
