-- Logins of browsers. Secrets are stored as hashes only.

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
