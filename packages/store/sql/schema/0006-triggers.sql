-- Triggers, and webhooks in both directions.

-- Topics that triggers wait for; each master repeats those it knows, and topics that no master repeats are deleted.
create table trigger_topics (
  topic text collate "C" primary key,
  -- A regular expression for a topic with wildcards, else null.
  pattern text,
  seen_at timestamptz not null default now()
);

-- Triggers that were created over the API; fields that only some types have are in spec.
create table schedules (
  id text collate "C" primary key,
  no bigint generated always as identity unique,
  name text not null,
  workflow_name text not null,
  workflow_kind text not null check (workflow_kind in ('flow', 'module')),
  target text not null,
  workspace text not null,
  params jsonb not null,
  trigger_type text not null check (trigger_type in ('cron', 'event', 'watch')),
  schedule text not null,
  event_topic text not null,
  watch_path text not null,
  spec jsonb not null,
  is_enabled boolean not null,
  last_run timestamptz,
  run_count int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- Trigger executions, including those that made no run.
create table trigger_firings (
  trigger_key text collate "C" not null,
  -- The event, the time or the state of the file that fired it.
  fire_key text collate "C" not null,
  -- open: its runs may be under way; waiting: its runs start when the open ones have ended; done: its runs have ended;
  -- skipped: it made no run.
  state text not null check (state in ('done', 'open', 'waiting', 'skipped')),
  job_no bigint, -- refers to jobs
  fired_at timestamptz not null default clock_timestamp(),
  primary key (trigger_key, fire_key)
);
create index trigger_firings_pending on trigger_firings (trigger_key, state, fired_at) where state in ('open', 'waiting');
create index trigger_firings_age on trigger_firings (fired_at);
create index trigger_firings_newest on trigger_firings (trigger_key, fired_at);

-- Dedupe keys, each of which fires once until its time is over.
create table trigger_dedupe (
  trigger_key text collate "C" not null,
  dedupe_key text collate "C" not null,
  until timestamptz not null,
  primary key (trigger_key, dedupe_key)
);
create index trigger_dedupe_until on trigger_dedupe (until);

-- The time up to which the executions of a cron trigger are decided, and the watches that know their first files.
create table trigger_clocks (
  trigger_key text collate "C" primary key,
  -- A trigger with another hash is a changed one and begins again.
  spec_hash text not null,
  handled_until timestamptz not null,
  seen_at timestamptz not null default now()
);

-- The last state of each file that a watch has handled.
create table watched_files (
  trigger_key text collate "C" not null,
  path text collate "C" not null,
  mark text not null,
  primary key (trigger_key, path)
);

-- Webhooks by which others send events.
create table incoming_webhooks (
  name text collate "C" primary key,
  -- Needed to check signatures, so it cannot be stored as a hash.
  secret text not null,
  created_at timestamptz not null default now(),
  -- When a request was last accepted, and how many were.
  last_received_at timestamptz,
  received_count bigint not null default 0
);

-- Signatures that were accepted: the same request is refused within the replay window.
create table webhook_receipts (
  name text collate "C" not null, -- refers to incoming_webhooks
  signature text collate "C" not null,
  received_at timestamptz not null default now(),
  primary key (name, signature)
);
create index webhook_receipts_age on webhook_receipts (received_at);

-- Webhooks to which events are sent.
create table webhook_subscriptions (
  id bigint generated always as identity primary key,
  name text not null,
  url text not null,
  topics text[] not null,
  filters text[] not null,
  format text not null check (format in ('json', 'slack', 'discord', 'teams', 'mail')),
  secret text not null,
  enabled boolean not null,
  -- Earlier events are not sent.
  since timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Events that tell of findings are only sent if one is at least this severe; "": all.
  min_severity text not null default '' check (min_severity in ('', 'info', 'low', 'medium', 'high', 'critical')),
  -- The text of a message; "": the usual one.
  template text not null default '',
  -- Whether a mail about the end of a job has the report of the job attached.
  report boolean not null default false
);

-- An event for a subscription: pending until it is delivered or given up (dead).
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  subscription_id bigint not null references webhook_subscriptions on delete cascade,
  event_no bigint not null, -- refers to event_logs
  event_id text not null,
  topic text not null,
  status text not null check (status in ('pending', 'delivered', 'dead')),
  attempts int not null default 0,
  next_at timestamptz not null default now(),
  last_status int not null default 0,
  last_error text not null default '',
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  -- The beginning of the last answer of the receiver.
  last_answer text not null default '',
  -- How long the last attempt took.
  last_ms int,
  last_attempt_at timestamptz,
  unique (subscription_id, event_no)
);
create index webhook_deliveries_due on webhook_deliveries (next_at) where status = 'pending';
create index webhook_deliveries_status on webhook_deliveries (status, id);
create index webhook_deliveries_subscription on webhook_deliveries (subscription_id, id);

-- The position up to which the event log has been read for subscriptions.
create table webhook_cursor (
  only_row boolean primary key default true check (only_row),
  position text not null
);
insert into webhook_cursor (position) values (pg_snapshot_xmin(pg_current_snapshot()) || '-0');
