-- Jobs, their runs, and what assigns runs to workers. Indexed text is compared bytewise, whatever the locale of the
-- database: filters are exact, and comparing is most of the cost of an insert.

-- The identity of the farm and the state that its masters share, in one row.
create table farm (
  only_row boolean primary key default true check (only_row),
  farm_id text not null default '',
  signing_key bytea,
  workflows_version bigint not null default 0,
  reaper_turn_at timestamptz,
  reaper_hold_until timestamptz,
  mass_expiry_since timestamptz,
  -- Up to where the event log is counted in farm_series.
  series_tx xid8 not null default '0',
  series_id bigint not null default 0,
  -- The end of the hour up to which findings.digest has been written.
  digest_until timestamptz not null default date_trunc('hour', now()),
  -- When the last findings.reminder was written.
  reminded_at timestamptz not null default now()
);
insert into farm default values;

-- The workflows of jobs, as they were when the jobs were submitted.
create table pinned_workflows (
  hash text primary key,
  json text not null,
  created_at timestamptz not null default now()
);

-- Workflows that were uploaded over the API.
create table uploaded_workflows (
  kind text not null check (kind in ('flow', 'module')),
  name text not null,
  yaml text not null,
  hash text not null,
  uploaded_by text not null,
  updated_at timestamptz not null default now(),
  primary key (kind, name)
);

-- One request to run a workflow on some targets, with everything that its runs have in common.
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
  -- Whether the request named the runner; otherwise the workflow does.
  runner_given boolean not null,
  docker_image text not null,
  ssh_host text not null,
  timeout_minutes int check (timeout_minutes > 0),
  -- Most runs at once; null: no limit.
  concurrency int check (concurrency > 0),
  requirement_class text not null,
  trigger_type text not null check (trigger_type in ('manual', 'cron', 'event', 'watch')),
  trigger_name text not null,
  schedule_id text not null,
  event_envelope text not null,
  -- Whether its runs start at once; otherwise they stay pending.
  starts boolean not null,
  target_count int not null,
  cancel_requested_at timestamptz,
  created_at timestamptz not null default now(),
  infra_no bigint references cloud_infras,
  -- The fields of the request that named the infrastructure, for copies of its runs.
  cloud jsonb,
  docker_network text not null default '',
  -- From this time any master may continue a cancel that has not reached all runs; the master that works on it moves the
  -- time on. Null: there is no such cancel.
  cancel_due_at timestamptz,
  -- The job whose runs it retries. A retry is a new job, so that the first results stay as they are.
  retry_of bigint references jobs on delete set null,
  -- How its runs ended, counted once after the last of them: {completed, failed, cancelled, clean, partial, nothing_done,
  -- ended_at}. Null: a run is open, or the job has not been counted yet.
  final_counts jsonb,
  -- From this time any master may continue a change of the priority that has not reached all waiting runs; the master that
  -- works on it moves the time on. Null: there is no such change.
  priority_due_at timestamptz,
  -- A run that was open when settle_jobs looked last; no run with a lower id is open. Null: not looked for yet.
  open_run bigint,
  -- Refers to scan_scopes; null: that of its workspace applies alone.
  scope_no bigint,
  -- Targets of its request that were refused; those that its runs met are in refusals.
  refused int not null default 0,
  -- For a retry, `from` of ResumePoint. Null: its runs begin at the start.
  resume_from jsonb,
  -- Who submitted it: "token:NAME" or "user:NAME"; "": a trigger.
  submitted_by text collate "C" not null default '',
  -- {max_age, full_every, turn, full} of a job of mode delta, which runs only what is new, changed or was not seen for
  -- long; null: it runs all targets.
  delta jsonb,
  -- Targets of its request that it left out because nothing changed; they are refusals of the place delta.
  left_out int not null default 0,
  -- What another attempt of its runs takes over; null: as the workflow says.
  resume text check (resume in ('steps', 'none')),
  -- The run whose loop it executes; null for all other jobs. Such jobs, and their runs, are not listed.
  parent_run bigint, -- refers to runs
  -- Of the step of the loop.
  loop_key text,
  -- Where the state of the loop is in the artifact store.
  loop_state text,
  -- The step of the loop in the last attempt.
  loop_step uuid,
  -- A job of mode delta may have nothing to run.
  constraint jobs_target_count check (target_count > 0 or delta is not null)
);
create index jobs_bounded on jobs (id) where concurrency is not null;
create index jobs_infra on jobs (infra_no) where infra_no is not null;
-- For the check that no job has a workflow which is about to be deleted.
create index jobs_workflow on jobs (workflow_hash);
create index jobs_cancel_due on jobs (cancel_due_at) where cancel_due_at is not null;
create index jobs_retries on jobs (retry_of) where retry_of is not null;
create index jobs_uncounted on jobs (id) where final_counts is null;
create index jobs_priority_due on jobs (priority_due_at) where priority_due_at is not null;
-- The last jobs of each schedule.
create index jobs_schedule on jobs (schedule_id, id) where schedule_id <> '';
-- Finds the turn of the next job of mode delta.
create index jobs_delta on jobs (workflow_name, schedule_id, id) where delta is not null;
create index jobs_of_loops on jobs (parent_run) where parent_run is not null;

-- Targets of a large job that have no run yet; a row is one chunk, deleted in the transaction that creates its runs.
create table job_targets (
  job_no bigint not null references jobs,
  chunk int not null,
  targets text[] not null,
  workspaces text[] not null check (cardinality(workspaces) = cardinality(targets)),
  primary key (job_no, chunk)
);

-- One execution of a job's workflow on one target. Progress updates stay within their page (heap-only tuples): no index
-- may contain updated_at, completed_at, current_pid, total_steps or completed_steps.
create table runs (
  id bigint generated always as identity primary key,
  run_uuid uuid not null,
  -- A foreign key would cost a trigger call for each run of a job, and only insert_runs writes this column.
  job_no bigint not null, -- refers to jobs
  -- These two repeat columns of jobs, for filters.
  workflow_name text collate "C" not null,
  run_mode text collate "C" not null,
  status text collate "C" not null
    check (status in ('pending', 'queued', 'running', 'completed', 'failed', 'cancelled')),
  target text collate "C" not null,
  workspace text collate "C" not null,
  -- Counts requeues. A queue message is valid for one epoch.
  epoch int not null default 0,
  -- Counts claims. Every write of a worker names the attempt.
  attempt int not null default 0,
  -- How many workers were lost while they executed it.
  crashes int not null default 0,
  -- The attempt whose owner reported the end: a repeated report is recognised by it.
  reported_attempt int,
  worker_id text collate "C" not null default '', -- refers to workers
  cancel_requested_at timestamptz,
  started_at timestamptz,
  completed_at timestamptz,
  total_steps int not null default 0,
  completed_steps int not null default 0,
  current_pid int not null default 0,
  error_message text not null default '',
  facts jsonb not null default '{}',
  killed_pids int[] not null default '{}',
  -- No event of this run has a smaller id, so the search for duplicates can skip older partitions.
  event_floor bigint not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  instance_no bigint, -- refers to cloud_instances
  -- How many machines were lost while they executed it.
  moves int not null default 0,
  -- Descriptions of the workers that were lost while they executed it, for its error message.
  lost_workers text[] not null default '{}',
  -- The newest event when a claim of it first failed; null: none did.
  stuck_since bigint,
  -- When its present attempt was assigned to a worker.
  claimed_at timestamptz,
  -- Null: the run has not ended, or it ended before the column existed.
  outcome text collate "C" check (outcome in ('clean', 'partial', 'nothing_done')),
  -- What worked, failed and was left out in the present attempt: RunTally of contracts.
  tally jsonb,
  -- Attempts that ended without ending the run, oldest first: who executed each one and why it ended. Only requeue_runs
  -- writes it, so that a run which needs one attempt costs nothing.
  past_attempts jsonb,
  -- What the next attempt may take over: ResumePoint of contracts. Null: nothing.
  resume jsonb,
  -- The first and the last item of a loop that it executes; null for runs of other jobs.
  batch int[],
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
-- A row is in one of these three, at its right end: much cheaper than one index on (run_mode, id).
create index runs_local on runs (id) where run_mode = 'local';
create index runs_distributed on runs (id) where run_mode = 'distributed';
create index runs_cloud on runs (id) where run_mode = 'cloud';
create index runs_owned on runs (worker_id) where status = 'running';
create index runs_on_instance on runs (instance_no) where status = 'running' and instance_no is not null;
create index runs_cloud_open on runs (job_no, id)
  where run_mode = 'cloud' and status in ('pending', 'queued', 'running');
-- Most runs are clean: a scan by id finds them.
create index runs_unclean on runs (outcome, id) where outcome in ('partial', 'nothing_done');
create index runs_of_loops on runs (workspace, status) where batch is not null;

-- Runs to be started: queue messages to be sent, and local and cloud runs until a slot takes them. The marks of the
-- dispatcher are here and not in runs, where they would deadlock with the batched writes of workers.
create table outbox (
  run_id bigint primary key, -- refers to runs
  epoch int not null,
  job_no bigint not null, -- refers to jobs
  run_mode text not null check (run_mode in ('local', 'distributed', 'cloud')),
  rank smallint not null,
  class text collate "C" not null,
  -- Whether the run may start; otherwise it waits for a slot of its job.
  ready boolean not null,
  sent_at timestamptz,
  instance_no bigint, -- refers to cloud_instances
  -- Whether a claim has put the row back since it was sent: the dispatcher that sent it must not remove it.
  delayed boolean not null default false
) with (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 2000);
-- By job, so that the dispatcher takes from each.
create index outbox_queue on outbox (class, rank, job_no, run_id)
  where ready and sent_at is null and run_mode = 'distributed';
create index outbox_sent on outbox (sent_at) where sent_at is not null;
create index outbox_local on outbox (rank, run_id) where ready and run_mode = 'local';
create index outbox_waiting on outbox (job_no, run_id) where not ready;
create index outbox_cloud on outbox (instance_no, rank, run_id) where ready and run_mode = 'cloud';
create index outbox_held on outbox (instance_no, job_no, run_id) where not ready and run_mode = 'cloud';
create index outbox_unbound on outbox (job_no, run_id) where run_mode = 'cloud' and instance_no is null;

-- One row for each slot in use of a job with a concurrency limit, from the time its run may start until the run has ended.
create table slots (
  run_id bigint primary key, -- refers to runs
  job_no bigint not null -- refers to jobs
);
create index slots_job on slots (job_no);

-- Worker processes and the local slots of masters, each with the lease that keeps its runs.
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
  -- Set once, by the reaper: the process never owns a run again.
  lost_at timestamptz,
  joined_at timestamptz not null default now(),
  last_heartbeat timestamptz not null default now(),
  -- What an operator wants the process to do. stopped: end its program after the runs under way, which cannot be taken
  -- back.
  wanted text not null default 'running' check (wanted in ('running', 'paused', 'stopped')),
  -- Programs of the manifest that it has: name, version and path of each.
  tools jsonb not null default '[]',
  -- The hash of the secret of the process that joined, which the functions of workers ask for. Processes of older
  -- versions have none: they join again.
  secret_hash bytea,
  -- Until then a stopped worker waits for its runs before its program ends; null: it ends now, as after SIGTERM.
  drain_until timestamptz,
  -- Why its kernel does not keep packets of commands within scopes; '': it does; null: an older program.
  enforcement_gap text
) with (fillfactor = 70);
create index workers_secret on workers (secret_hash);

-- Processes that have left the farm, for the names of the workers of ended runs.
create table past_workers (
  id text collate "C" primary key,
  name text not null,
  hostname text not null,
  pid int not null,
  version text not null,
  left_at timestamptz not null default now()
);

-- Counts by minute (of workflows: by hour), for charts: a master fills it from the event log, and once a minute with the
-- depth of the queue.
create table farm_series (
  minute timestamptz not null,
  kind text collate "C" not null check (kind in ('run', 'finding', 'workflow', 'workflow_failed', 'queue')),
  -- The status, severity, workflow or priority.
  label text collate "C" not null,
  count bigint not null,
  primary key (minute, kind, label)
);

-- Owners, also "workspace:NAME", whose share of the workers is not 1 among jobs of equal priority.
create table shares (
  owner text collate "C" primary key,
  weight int not null check (weight between 1 and 1000)
);

-- Runs of one workflow on one target in one workspace: one of them works at a time. Claims lock the rows of what they
-- start. Advisory locks could be held by each login.
create table twin_locks (
  id int primary key
);
insert into twin_locks select generate_series(0, 1023);

-- Rows that masters lock, so that only one of them at a time does what the name says. Every login of the database could
-- hold an advisory lock.
create table locks (
  name text collate "C" primary key
);
insert into locks (name)
select unnest(array['reaper', 'series', 'scans', 'jobs', 'partitions', 'retention', 'cloud claim', 'cloud budget',
                    'fingerprints'])
union all select 'cloud binding ' || n from generate_series(0, 15) n;

-- Functions that workers may call.
create schema worker;
