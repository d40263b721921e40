-- requires: record_finding_change
-- What the screens of findings, triggers and webhooks need besides.

-- Changes of a finding's state, severity, confidence and tags: the newest of each finding.
create table finding_changes (
  id bigint generated always as identity primary key,
  vulnerability_id bigint not null references vulnerabilities on delete cascade,
  changed_at timestamptz not null default now(),
  -- The changed fields: {"state": {"from": "open", "to": "gone"}}.
  changes jsonb not null,
  -- Who changed it by hand, or ''.
  changed_by text not null,
  run_id bigint -- refers to runs
);
create index finding_changes_finding on finding_changes (vulnerability_id, id);
create trigger finding_changed after update of state, severity, confidence, tags on vulnerabilities
  for each row
  when ((old.state, old.severity, old.confidence, old.tags)
        is distinct from (new.state, new.severity, new.confidence, new.tags))
  execute function record_finding_change();

-- Filters of screens that callers have saved.
create table saved_filters (
  id bigint generated always as identity primary key,
  -- The user or token: kind:id.
  owner text collate "C" not null,
  owner_name text not null,
  screen text collate "C" not null,
  name text not null,
  query text not null,
  shared boolean not null,
  created_at timestamptz not null default now(),
  unique (owner, screen, name)
);
create index saved_filters_shared on saved_filters (screen) where shared;

-- The newest execution of each trigger.
create index trigger_firings_newest on trigger_firings (trigger_key, fired_at);

-- The beginning of the last answer of the receiver.
alter table webhook_deliveries add column last_answer text not null default '';
-- How long the last attempt took.
alter table webhook_deliveries add column last_ms int;
alter table webhook_deliveries add column last_attempt_at timestamptz;
create index webhook_deliveries_subscription on webhook_deliveries (subscription_id, id);

-- When a request was last accepted, and how many were.
alter table incoming_webhooks add column last_received_at timestamptz;
alter table incoming_webhooks add column received_count bigint not null default 0;
