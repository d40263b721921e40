import { sql, type Kysely } from 'kysely'

/** Events that come from outside and events that are told to others. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
}

const TABLES = `
create table incoming_webhooks (
  name text collate "C" primary key,
  -- Needed to check signatures, so it cannot be kept as a hash.
  secret text not null,
  created_at timestamptz not null default now()
);

-- Signatures that were accepted: the same request is not taken twice within the replay window.
create table webhook_receipts (
  name text collate "C" not null,
  signature text collate "C" not null,
  received_at timestamptz not null default now(),
  primary key (name, signature)
);
create index webhook_receipts_age on webhook_receipts (received_at);

create table webhook_subscriptions (
  id bigint generated always as identity primary key,
  name text not null,
  url text not null,
  topics text[] not null,
  filters text[] not null,
  format text not null check (format in ('json', 'slack', 'discord')),
  secret text not null,
  enabled boolean not null,
  -- Events before this are not told.
  since timestamptz not null default now(),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- An event for a subscription: 'pending' until it is delivered or given up ('dead').
create table webhook_deliveries (
  id bigint generated always as identity primary key,
  subscription_id bigint not null references webhook_subscriptions on delete cascade,
  event_no bigint not null,
  event_id text not null,
  topic text not null,
  status text not null check (status in ('pending', 'delivered', 'dead')),
  attempts int not null default 0,
  next_at timestamptz not null default now(),
  last_status int not null default 0,
  last_error text not null default '',
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  unique (subscription_id, event_no)
);
create index webhook_deliveries_due on webhook_deliveries (next_at) where status = 'pending';
create index webhook_deliveries_status on webhook_deliveries (status, id);

-- How far the event log has been looked through for subscriptions.
create table webhook_cursor (
  only_row boolean primary key default true check (only_row),
  position text not null
);
insert into webhook_cursor (position) values (pg_snapshot_xmin(pg_current_snapshot()) || '-0');
`
