-- requires: bump_scopes_version
-- Who may use the API, and what runs may scan. Secrets are stored as hashes only.

-- Tokens of the API.
create table api_tokens (
  id bigint generated always as identity primary key,
  name text not null,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  hash text not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);

-- Users who log in with a password.
create table users (
  id bigint generated always as identity primary key,
  username text not null unique,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  password_hash text not null,
  created_at timestamptz not null default now()
);

-- Addresses from which a user has logged in: attempts from there are not slowed down by failures of others.
create table login_addresses (
  user_id bigint not null references users on delete cascade,
  address text not null,
  last_at timestamptz not null default now(),
  primary key (user_id, address)
);

-- Counts of failed logins, by pair of name and address, by address and by name.
create table login_failures (
  key text primary key,
  failures int not null,
  last_at timestamptz not null,
  wait_until timestamptz not null
);
create index login_failures_age on login_failures (last_at);

-- Answers to requests with an idempotency key.
create table idempotency_keys (
  key text primary key,
  request_hash text not null,
  status int not null,
  body text not null,
  created_at timestamptz not null default now()
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Logins of browsers. Each belongs to a user or an API token and ends with it.
create table sessions (
  hash text primary key,
  user_id bigint references users on delete cascade,
  token_id bigint references api_tokens on delete cascade,
  -- Changes with the role and the password of the user: a session with another mark is invalid.
  mark text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  last_used_at timestamptz not null default now(),
  check (num_nonnulls(user_id, token_id) = 1)
);
create index sessions_of_user on sessions (user_id, created_at) where user_id is not null;
create index sessions_of_token on sessions (token_id, created_at) where token_id is not null;
create index sessions_expiry on sessions (expires_at);

-- Codes of links that log in once, as the caller who asked for the link.
create table login_codes (
  hash text primary key,
  user_id bigint references users on delete cascade,
  token_id bigint references api_tokens on delete cascade,
  mark text not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- The session that the code starts ends with the login that asked for the link.
  session_until timestamptz not null,
  check (num_nonnulls(user_id, token_id) = 1)
);
create index login_codes_of_user on login_codes (user_id, created_at) where user_id is not null;
create index login_codes_of_token on login_codes (token_id, created_at) where token_id is not null;
create index login_codes_expiry on login_codes (expires_at);

-- Login tokens that were logged out. They contain when they expire, so they cannot be deleted instead.
create table revoked_logins (
  -- SHA-256 of the signed part of the token, hex.
  hash text primary key,
  expires_at timestamptz not null
);
create index revoked_logins_expiry on revoked_logins (expires_at);

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

-- Successful requests that changed something.
create table audit_log (
  id bigint generated always as identity primary key,
  at timestamptz not null default now(),
  -- The user or token.
  kind text not null check (kind in ('user', 'token')),
  caller_id bigint not null,
  caller text not null,
  role text not null,
  method text not null,
  -- Pattern of the route: /users/{id}.
  route text not null,
  -- The path with its ids: /users/3.
  path text not null,
  status int not null
);
create index audit_log_age on audit_log (at);
create index audit_log_caller on audit_log (caller, id);

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
  updated_at timestamptz not null default now(),
  -- 'kernel': only workers that drop packets execute its runs, and nothing but what is allowed is sent to.
  enforcement text not null default 'checked' check (enforcement in ('checked', 'kernel')),
  -- {per_address, per_network, per_domain}, each {rate, runs}, of the runs in the scope together.
  limits jsonb not null default '{}'
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

-- Hosts that a run may have sent traffic to, except those that its target names in their usual form: items of loops, URLs
-- of requests, addresses of names.
create table destinations (
  -- A name, an address or a network; "*": any.
  host text collate "C" not null,
  run_id bigint not null, -- refers to runs
  place text collate "C" not null,
  primary key (host, run_id, place)
);
create index destinations_run on destinations (run_id);

-- The limits of all runs together. One row, which each change of limit_uses locks.
create table farm_limits (
  limits jsonb not null
);
insert into farm_limits values ('{}');
create trigger scopes_changed after update on farm_limits
  for each statement execute function bump_scopes_version();

-- What runs use of limits, or wait for.
create table limit_uses (
  run_id bigint not null, -- refers to runs
  -- 0: the farm.
  scope_no bigint not null,
  kind text collate "C" not null check (kind in ('per_address', 'per_network', 'per_domain')),
  -- The first and the last address as 32 hexadecimal digits, or a domain twice.
  lo text collate "C" not null,
  hi text collate "C" not null,
  label text not null,
  -- Connections or requests a second; null: the limits of the run have none.
  rate int,
  -- 'infinity': the run works; null: it waits; else: it was offered again, and its share is kept until then.
  until timestamptz,
  primary key (run_id, scope_no, kind, lo)
);
create index limit_uses_used on limit_uses (scope_no, kind, lo) where until is not null;
create index limit_uses_waiting on limit_uses (scope_no, kind, lo) where until is null;
