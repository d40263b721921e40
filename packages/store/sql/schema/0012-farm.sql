-- What an operator wants a process to do. stopped: end its program after the runs under way, which cannot be taken back.
alter table workers add column wanted text not null default 'running' check (wanted in ('running', 'paused', 'stopped'));

-- Attempts that ended without ending the run, oldest first: who executed each one and why it ended. Only requeue_runs
-- writes it, so that a run which needs one attempt costs nothing.
alter table runs add column past_attempts jsonb;

-- Processes that have left the farm, for the names of the workers of ended runs.
create table past_workers (
  id text collate "C" primary key,
  name text not null,
  hostname text not null,
  pid int not null,
  version text not null,
  left_at timestamptz not null default now()
);

-- Counts by minute (of workflows: by hour), for charts: a master fills it from the event log, and once a minute with the depth of the queue.
create table farm_series (
  minute timestamptz not null,
  kind text collate "C" not null check (kind in ('run', 'finding', 'workflow', 'workflow_failed', 'queue')),
  -- The status, severity, workflow or priority.
  label text collate "C" not null,
  count bigint not null,
  primary key (minute, kind, label)
);

-- Up to where the event log is counted in farm_series.
alter table farm add column series_tx xid8 not null default '0';
alter table farm add column series_id bigint not null default 0;
