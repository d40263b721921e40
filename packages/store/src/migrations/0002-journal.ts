import { sql, type Kysely } from 'kysely'

/** Steps, artifacts and the event log, partitioned by id range so that old ranges can be dropped whole. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
  await sql.raw(PARTITIONS).execute(db)
}

const TABLES = `
create table steps (
  run_id bigint not null,
  attempt int not null,
  seq int not null,
  id uuid not null,
  name text not null,
  type text not null,
  module text not null,
  status text not null check (status in ('pending', 'running', 'completed', 'failed', 'skipped', 'cancelled')),
  command text not null,
  output text not null,
  error_message text not null,
  exports jsonb not null,
  exit_code int,
  duration_ms bigint not null,
  log_file text not null,
  started_at timestamptz,
  completed_at timestamptz,
  created_at timestamptz not null default now(),
  primary key (run_id, attempt, seq),
  constraint steps_completed_at check ((status not in ('pending', 'running')) = (completed_at is not null))
) partition by range (run_id);
create table steps_rest partition of steps default;

create table artifacts (
  run_id bigint not null,
  attempt int not null,
  id uuid not null,
  name text not null,
  path text not null,
  type text not null check (type in ('report', 'state_file', 'output', 'screenshot')),
  content_type text not null,
  size_bytes bigint not null,
  line_count bigint not null,
  description text not null,
  store_key text not null,
  sha256 text not null,
  created_at timestamptz not null default now(),
  primary key (run_id, attempt, id)
);

create table event_logs (
  id bigint generated always as identity,
  topic text collate "C" not null,
  event_id text not null,
  name text collate "C" not null,
  source text collate "C" not null,
  data_type text not null,
  data text not null,
  workspace text collate "C" not null,
  run_id text collate "C" not null,
  workflow_name text collate "C" not null,
  processed boolean not null,
  processed_at timestamptz,
  error text not null default '',
  created_at timestamptz not null default now(),
  primary key (id),
  constraint event_logs_processed_at check (processed = (processed_at is not null))
) partition by range (id);
create table event_logs_rest partition of event_logs default;
create index event_logs_topic on event_logs (topic, id);
create index event_logs_name on event_logs (name, id);
-- Nearly every entry is the executor's: those are found by reading backwards, the others need an index.
create index event_logs_source on event_logs (source, id) where source <> 'executor';
create index event_logs_workspace on event_logs (workspace, id);
create index event_logs_run on event_logs (run_id, id);
create index event_logs_workflow on event_logs (workflow_name, id);
create index event_logs_unprocessed on event_logs (id) where not processed;
`

// A range is attached instead of created in place: that needs no exclusive lock on the parent, so writers go on.
// Whatever fell into the default partition moves along; an insert therefore never fails for want of a partition.
const PARTITIONS = `
create function add_partition(p_table text, p_key text, p_from bigint, p_to bigint) returns void
language plpgsql as $$
declare
  v_name text := format('%s_%s', p_table, p_from);
begin
  execute format('create table %I (like %I including defaults including constraints)', v_name, p_table);
  execute format('lock table %I in access exclusive mode', p_table || '_rest');
  execute format(
    'with moved as (delete from %I where %I >= %s and %I < %s returning *) insert into %I overriding system value select * from moved',
    p_table || '_rest', p_key, p_from, p_key, p_to, v_name);
  execute format('alter table %I attach partition %I for values from (%s) to (%s)', p_table, v_name, p_from, p_to);
end $$;

-- Makes the ranges from the one in use to p_ahead beyond it; returns how many it made.
create function keep_partitions_ahead(p_table text, p_key text, p_sequence text, p_size bigint, p_ahead int) returns int
language plpgsql as $$
declare
  v_last bigint;
  v_made int := 0;
  v_from bigint;
begin
  execute format('select last_value from %I', p_sequence) into v_last;
  for v_from in
    select n * p_size from generate_series(v_last / p_size, v_last / p_size + p_ahead) n
  loop
    if to_regclass(format('%I', p_table || '_' || v_from)) is null then
      perform add_partition(p_table, p_key, v_from, v_from + p_size);
      v_made := v_made + 1;
    end if;
  end loop;
  return v_made;
end $$;

create function keep_all_partitions_ahead() returns int
language plpgsql as $$
begin
  perform pg_advisory_xact_lock(hashtext('scanfarm partitions'));
  return keep_partitions_ahead('steps', 'run_id', 'runs_id_seq', 1000000, 1)
       + keep_partitions_ahead('event_logs', 'id', 'event_logs_id_seq', 5000000, 1);
end $$;

select keep_all_partitions_ahead();
`
