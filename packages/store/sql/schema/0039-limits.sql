-- requires: bump_scopes_version
-- How much runs may load the hosts that they scan.

-- {per_address, per_network, per_domain}, each {rate, runs}, of the runs in the scope together.
alter table scan_scopes add column limits jsonb not null default '{}';

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
