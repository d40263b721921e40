import { sql, type Kysely } from 'kysely'

/**
 * Whether an ended run did its work. The figures that decide it are recorded while the run goes on, so that a run whose
 * worker is lost has an outcome by the same rule.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  for (const part of [COLUMNS, START, RECORD, END]) await sql.raw(part).execute(db)
}

// Nothing is left to choose for a planner that knows the tables from when they were empty: see 0004.
const BY_INDEX = `set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan`

const COLUMNS = `
alter table runs
  -- Null: the run has not ended, or it ended before this column was there.
  add column outcome text collate "C" check (outcome in ('clean', 'partial', 'nothing_done')),
  -- What worked, failed and was left out in the present attempt: RunTally of contracts.
  add column tally jsonb;
-- Clean runs are the most: a scan by id finds them.
create index runs_unclean on runs (outcome, id) where outcome in ('partial', 'nothing_done');

create function tally_count(p_tally jsonb, p_name text) returns int
language sql immutable parallel safe as $$ select coalesce((p_tally ->> p_name)::int, 0) $$;

-- The same rule as outcomeOf in contracts; a test compares the two.
create function run_outcome(p_status text, p_tally jsonb) returns text
language sql immutable parallel safe as $$
  select case when not coalesce((p_tally ->> 'worked')::boolean, false) then 'nothing_done'
              when p_status = 'completed' and tally_count(p_tally, 'failedSteps')
                + tally_count(p_tally, 'leftOutModules') + tally_count(p_tally, 'leftOutSteps') = 0 then 'clean'
              else 'partial' end
$$;
revoke all on function tally_count(jsonb, text), run_outcome(text, jsonb) from public;

create or replace function run_event_data(r runs, j jobs) returns text
language sql stable as $$
  select json_build_object(
    'run_id', r.id, 'run_uuid', r.run_uuid, 'job_id', j.job_id, 'workflow', r.workflow_name, 'kind', j.workflow_kind,
    'target', r.target, 'workspace', r.workspace, 'status', r.status, 'attempt', r.attempt,
    'error_message', left(r.error_message, 8000), 'total_steps', r.total_steps, 'completed_steps', r.completed_steps,
    'outcome', coalesce(r.outcome, ''), 'failed_steps', tally_count(r.tally, 'failedSteps'),
    'left_out_modules', tally_count(r.tally, 'leftOutModules'), 'left_out_steps', tally_count(r.tally, 'leftOutSteps'),
    'outcome_reasons', coalesce(r.tally -> 'reasons', '[]'))::text
$$;
`

const START = `
-- Runs of a cancelled job end as they are made.
create or replace function insert_runs(p_job jobs, p_targets text[], p_workspaces text[], p_uuid uuid) returns void
language plpgsql as $$
declare
  v_ids bigint[];
  v_status text := case when p_job.cancel_requested_at is not null then 'cancelled'
                        when p_job.starts then 'queued' else 'pending' end;
begin
  with made as (
    insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, completed_at, outcome)
    select coalesce(p_uuid, gen_random_uuid()), p_job.id, p_job.workflow_name, p_job.run_mode, v_status,
           target, workspace, case v_status when 'cancelled' then now() end,
           case v_status when 'cancelled' then run_outcome(v_status, null) end
    from unnest(p_targets, p_workspaces) as u(target, workspace)
    returning id
  )
  select array_agg(id) into v_ids from made;
  if v_status = 'queued' then
    perform fill_outbox(p_job, v_ids, free_slots(p_job.id));
  end if;
end $$;
`

const RECORD = `
-- Writes what became known of running runs. The fence: only where (run, attempt) is the one that runs now. Each key
-- occurs once in p_updates. Returns the ids of the runs that were written.
create or replace function apply_updates(p_updates jsonb) returns bigint[]
language plpgsql ${BY_INDEX} as $$
declare
  v_ids bigint[] := lock_owned(p_updates);
begin
  if v_ids is null then
    return '{}';
  end if;

  update runs r
  set total_steps = coalesce(u."totalSteps", r.total_steps),
      completed_steps = least(coalesce(u."completedSteps", r.completed_steps), coalesce(u."totalSteps", r.total_steps)),
      current_pid = coalesce(u."currentPid", r.current_pid),
      facts = case when u.facts is null then r.facts else r.facts || u.facts end,
      tally = coalesce(u.tally, r.tally),
      updated_at = now()
  from jsonb_to_recordset(p_updates)
    as u("runId" bigint, attempt int, "totalSteps" int, "completedSteps" int, "currentPid" int, facts jsonb, tally jsonb)
  where r.id = any(v_ids) and r.id = u."runId" and r.attempt = u.attempt;

  insert into steps (run_id, attempt, seq, id, name, type, module, status, command, output, error_message, exports,
                     exit_code, duration_ms, log_file, started_at, completed_at)
  select u."runId", u.attempt, s.seq, s.id, s.name, s.type, s.module, s.status, s.command, s.output, s."errorMessage",
         s.exports, s."exitCode", s."durationMs", s."logFile", s."startedAt",
         case when s.status not in ('pending', 'running') then coalesce(s."completedAt", now()) end
  from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, steps jsonb)
  cross join lateral jsonb_to_recordset(u.steps) as s(seq int, id uuid, name text, type text, module text, status text,
    command text, output text, "errorMessage" text, exports jsonb, "exitCode" int, "durationMs" bigint, "logFile" text,
    "startedAt" timestamptz, "completedAt" timestamptz)
  join runs r on r.id = u."runId" and r.attempt = u.attempt
  where r.id = any(v_ids)
  order by 1, 2, 3
  on conflict (run_id, attempt, seq) do update
  set name = excluded.name, type = excluded.type, module = excluded.module, status = excluded.status,
      command = excluded.command, output = excluded.output, error_message = excluded.error_message,
      exports = excluded.exports, exit_code = excluded.exit_code, duration_ms = excluded.duration_ms,
      log_file = excluded.log_file, started_at = excluded.started_at, completed_at = excluded.completed_at
  where steps.status = 'pending' or (steps.status = 'running' and excluded.status not in ('pending', 'skipped'));

  insert into artifacts (run_id, attempt, id, name, path, type, content_type, size_bytes, line_count, description,
                         store_key, sha256)
  select u."runId", u.attempt, a.id, a.name, a.path, a.type, a."contentType", a."sizeBytes", a."lineCount",
         a.description, a."storeKey", a.sha256
  from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, artifacts jsonb)
  cross join lateral jsonb_to_recordset(u.artifacts) as a(id uuid, name text, path text, type text, "contentType" text,
    "sizeBytes" bigint, "lineCount" bigint, description text, "storeKey" text, sha256 text)
  join runs r on r.id = u."runId" and r.attempt = u.attempt
  where r.id = any(v_ids)
  order by 1, 2, 3
  on conflict do nothing;

  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select e.topic, e."eventId", e.name, e.source, e."dataType", e.data, r.workspace, r.run_uuid::text, r.workflow_name,
         not w.wanted, case when w.wanted then null else now() end
  from jsonb_to_recordset(p_updates) as u("runId" bigint, attempt int, events jsonb)
  join runs r on r.id = u."runId" and r.attempt = u.attempt
  cross join lateral (
    select distinct on (x."eventId") x.* from rows from (
      jsonb_to_recordset(u.events) as (topic text, "eventId" text, name text, source text, "dataType" text, data text)
    ) with ordinality as x(topic, "eventId", name, source, "dataType", data, n)
    order by x."eventId", x.n
  ) e
  cross join lateral (select event_is_wanted(e.topic) as wanted) w
  where r.id = any(v_ids)
    and not exists (
      select 1 from event_logs old
      where old.run_id = r.run_uuid::text and old.event_id = e."eventId" and old.id >= r.event_floor
      offset 0)
  order by r.id, e.n;
  return v_ids;
end $$;
`

const END = `
-- As it was in 0015, with the outcome.
create or replace function end_runs(p_ends jsonb) returns bigint[]
language plpgsql ${BY_INDEX} as $$
declare
  v_named bigint[] := array(select id from jsonb_to_recordset(p_ends) as e(id bigint));
  v_ids bigint[];
  v_job_no bigint;
  v_freed int;
  v_readied int := 0;
begin
  perform 1 from runs where id = any(v_named) order by id for update;

  with ended as (
    update runs r
    set status = e.status,
        completed_at = now(),
        updated_at = now(),
        current_pid = 0,
        error_message = coalesce(nullif(e.error, ''), r.error_message),
        killed_pids = coalesce(e.pids, '{}'),
        reported_attempt = case when e.reported then r.attempt else r.reported_attempt end,
        -- The last report of a run that its worker did not end may lack steps: their rows are counted, also of items and hooks.
        tally = case when e.reported or r.attempt = 0 then r.tally else
          coalesce(r.tally, '{}') || jsonb_build_object('failedSteps', greatest(tally_count(r.tally, 'failedSteps'), (
            select count(*) from steps s
            where s.run_id = r.id and s.attempt = r.attempt
              and (s.status = 'failed' or (s.status = 'running' and e.status <> 'cancelled'))))) end,
        outcome = run_outcome(e.status, r.tally)
    from jsonb_to_recordset(p_ends) as e(id bigint, status text, error text, pids int[], reported boolean)
    where r.id = any(v_named) and r.id = e.id and r.status = any(run_sources(e.status))
    returning r.id
  )
  select array_agg(id order by id) into v_ids from ended;
  if v_ids is null then
    return '{}';
  end if;

  update steps s
  set status = case when s.status = 'pending' or r.status = 'cancelled' then 'cancelled' else 'failed' end,
      completed_at = now(),
      error_message = case when s.error_message <> '' then s.error_message
                           when s.status = 'pending' then 'the run ended before this step'
                           else 'the run ended while this step was running' end
  from runs r
  where r.id = any(v_ids) and s.run_id = any(v_ids)
    and s.run_id = r.id and s.attempt = r.attempt and s.status in ('pending', 'running');

  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select e.topic, format('evt_%s_%s_end', replace(r.run_uuid::text, '-', ''), r.attempt), e.topic, 'executor', 'scan',
         run_event_data(r, j), r.workspace, r.run_uuid::text, r.workflow_name,
         not e.wanted, case when e.wanted then null else now() end
  from runs r
  cross join lateral (select * from jobs where id = r.job_no offset 0) j
  cross join lateral (select case r.status when 'completed' then 'run.completed' else 'run.failed' end as topic) t
  cross join lateral (select t.topic, event_is_wanted(t.topic) as wanted) e
  where r.id = any(v_ids)
  order by r.id;

  delete from outbox where run_id = any(v_ids);
  for v_job_no, v_freed in
    with freed as (delete from slots where run_id = any(v_ids) returning job_no)
    select job_no, count(*)::int from freed group by job_no order by job_no
  loop
    v_readied := v_readied + ready_next(v_job_no, v_freed);
  end loop;
  if v_readied > 0 then
    perform wake_masters();
  end if;
  if exists (select from runs where id = any(v_ids) and run_mode || '' = 'cloud') then
    perform poke_finished(v_ids);
  end if;
  return v_ids;
end $$;
`
