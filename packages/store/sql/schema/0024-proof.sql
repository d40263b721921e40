-- What a scan did not test, by place and check, and the findings of scans that did not run.

-- What a scan could not look at: a host, a port of it, a file, or one check at one of them.
alter table reached_hosts add column check_id text not null default '';
alter table reached_hosts add column reason text not null default '';
alter table reached_hosts drop constraint reached_hosts_pkey,
  add primary key (run_id, attempt, scope_id, kind, host, check_id);
create type untested_place as (place text, check_id text, reason text);

-- Whether its imports named what was not tested; then failed steps of its module concern these places only.
alter table scans add column names_untested boolean not null default false;

-- The params that select what is scanned. Null: not used since the column exists.
alter table scopes add column scan_params jsonb;
create index scopes_target on scopes (workspace, workflow_name, target);

-- Ended runs that are not clean, and of whose scopes some may have had no scan, until they are judged.
create table unclean_runs (
  run_id bigint primary key -- refers to runs
);
