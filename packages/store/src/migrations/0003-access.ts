import { sql, type Kysely } from 'kysely'

/** Who may call, and the answers kept for repeated requests. Secrets are stored as hashes only. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
}

const TABLES = `
create table api_tokens (
  id bigint generated always as identity primary key,
  name text not null,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  hash text not null unique,
  created_at timestamptz not null default now(),
  expires_at timestamptz,
  last_used_at timestamptz
);

create table users (
  id bigint generated always as identity primary key,
  username text not null unique,
  role text not null check (role in ('viewer', 'operator', 'admin')),
  password_hash text not null,
  created_at timestamptz not null default now()
);

create table login_failures (
  key text primary key,
  failures int not null,
  last_at timestamptz not null,
  wait_until timestamptz not null
);

create table idempotency_keys (
  key text primary key,
  request_hash text not null,
  status int not null,
  body text not null,
  created_at timestamptz not null default now()
);
create index idempotency_keys_age on idempotency_keys (created_at);
`
