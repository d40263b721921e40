-- Tokens, users and logins of the API, and the stored answers to repeated requests. Secrets are stored as hashes only.

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
