import { sql, type Kysely } from 'kysely'

/**
 * The worker's side, in a schema of its own. A database role that may execute these functions needs, and gets, no
 * right on any table: they run as their owner, with a search path that the caller cannot bend.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(PRESENCE).execute(db)
  await sql.raw(CLAIM).execute(db)
  await sql.raw(RECORD).execute(db)
  await sql.raw(FINISH).execute(db)
}

const DEFINER = `security definer set search_path = pg_catalog, public, pg_temp`

// A batch touches tens of rows in tables of millions, by plans that may have been made while the tables were small, and
// that are made once: planning each call anew took longer than running it. So nothing is left to choose. Rows are named
// by arrays of ids; no other condition offers an index (hence `status || ''`); scans of whole tables and loops over the
// batch are ruled out, but for what belongs to one row (`lateral … offset 0`).
const BY_INDEX = `set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan`

const PRESENCE = `
create schema worker;

-- What a worker asks before anything else: the farm's identity, made on first use, and the newest migration.
create function worker.farm() returns jsonb
language plpgsql ${DEFINER} as $$
begin
  update farm set farm_id = substr(replace(gen_random_uuid()::text, '-', ''), 1, 12) where farm_id = '';
  return jsonb_build_object(
    'farmId', (select farm_id from farm),
    'schemaVersion', (select name from kysely_migration order by name desc limit 1));
end $$;

create function worker.join(p_worker jsonb) returns void
language sql ${DEFINER} as $$
  insert into workers (id, name, hostname, pid, version, kind, slots, capabilities, lease_ms, lease_until)
  select w.id, w.name, w.hostname, w.pid, w.version, w.kind, w.slots, w.capabilities, w.lease_ms,
         now() + w.lease_ms * interval '1 ms'
  from jsonb_populate_record(null::workers, p_worker) w
  on conflict (id) do nothing
$$;

-- Any sign of life renews the lease, also a late one: a worker is lost only when the reaper has said so.
create function renew_lease(p_worker_id text, p_busy int, p_draining boolean) returns boolean
language plpgsql as $$
begin
  update workers
  set lease_until = now() + lease_ms * interval '1 ms', last_heartbeat = now(),
      busy = coalesce(p_busy, busy), draining = coalesce(p_draining, draining)
  where id = p_worker_id and lost_at is null;
  return found;
end $$;

create function worker.heartbeat(p_worker_id text, p_busy int, p_draining boolean) returns jsonb
language plpgsql ${DEFINER} ${BY_INDEX} as $$
begin
  if not renew_lease(p_worker_id, p_busy, p_draining) then
    return '{"known": false, "runs": []}';
  end if;
  return jsonb_build_object('known', true, 'runs', (
    select coalesce(jsonb_agg(jsonb_build_object(
      'runId', id, 'attempt', attempt, 'cancelRequested', cancel_requested_at is not null) order by id), '[]')
    from runs where worker_id = p_worker_id and status = 'running'));
end $$;

create function worker.leave(p_worker_id text) returns void
language plpgsql ${DEFINER} as $$
begin
  delete from workers where id = p_worker_id;
  perform release_runs(array(select id from runs where worker_id = p_worker_id and status = 'running'), 0);
end $$;

create function worker.workflow(p_hash text) returns text
language sql stable ${DEFINER} as $$ select json from pinned_workflows where hash = p_hash $$;
`

const CLAIM = `
-- Gives locked, queued runs to a worker and returns what it needs to run them.
create function take_runs(p_worker_id text, p_ids bigint[]) returns jsonb
language plpgsql ${BY_INDEX} as $$
declare
  v_floor bigint;
  v_runs jsonb;
begin
  select last_value into v_floor from event_logs_id_seq;
  update runs
  set status = 'running', attempt = attempt + 1, worker_id = p_worker_id, started_at = coalesce(started_at, now()),
      event_floor = case event_floor when 0 then v_floor else event_floor end,
      total_steps = 0, completed_steps = 0, error_message = '', updated_at = now()
  where id = any(p_ids) and status || '' = 'queued';

  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select 'run.started', format('evt_%s_%s_start', replace(r.run_uuid::text, '-', ''), r.attempt), 'run.started',
         'executor', 'scan', run_event_data(r, j), r.workspace, r.run_uuid::text, r.workflow_name,
         not e.wanted, case when e.wanted then null else now() end
  from runs r
  cross join lateral (select * from jobs where id = r.job_no offset 0) j
  cross join lateral (select event_is_wanted('run.started') as wanted) e
  where r.id = any(p_ids)
  order by r.id;

  select jsonb_agg(jsonb_build_object(
    'runId', r.id, 'attempt', r.attempt, 'epoch', r.epoch, 'runUuid', r.run_uuid, 'jobId', j.job_id,
    'workflowName', r.workflow_name, 'workflowKind', j.workflow_kind, 'workflowHash', j.workflow_hash,
    'target', r.target, 'params', j.params, 'workspace', r.workspace, 'priority', j.priority, 'runMode', r.run_mode,
    'timeoutMs', j.timeout_minutes::bigint * 60000,
    'runner', case when j.runner_given then jsonb_strip_nulls(jsonb_build_object(
      'type', j.runner_type, 'dockerImage', nullif(j.docker_image, ''), 'sshHost', nullif(j.ssh_host, ''))) end,
    'cancelRequested', r.cancel_requested_at is not null, 'eventEnvelope', j.event_envelope))
  into v_runs
  from runs r cross join lateral (select * from jobs where id = r.job_no offset 0) j
  where r.id = any(p_ids);
  return v_runs;
end $$;

-- The claim decides who runs: of all that hold a ticket for the same epoch, one gets the run. Null for a worker that
-- is unknown or was declared lost: an empty list would say that its tickets are worth nothing to anybody.
create function worker.claim(p_worker_id text, p_run_ids bigint[], p_epochs int[]) returns jsonb
language plpgsql ${DEFINER} ${BY_INDEX} as $$
declare
  v_ids bigint[];
begin
  if not renew_lease(p_worker_id, null, null) then
    return null;
  end if;
  select array_agg(r.id) into v_ids
  from (select id, epoch, status from runs where id = any(p_run_ids) order by id offset 0 for update) r
  join unnest(p_run_ids, p_epochs) as t(run_id, epoch) on t.run_id = r.id and t.epoch = r.epoch
  where r.status = 'queued';
  return case when v_ids is null then '[]' else take_runs(p_worker_id, v_ids) end;
end $$;

-- Local runs come straight from the outbox. Rows that another server is taking are passed over, never waited for:
-- runs are locked in order of priority here, which is not the order of their ids.
create function worker.claim_local(p_worker_id text, p_limit int) returns jsonb
language plpgsql ${DEFINER} ${BY_INDEX} set enable_nestloop = on set enable_hashjoin = off as $$
declare
  v_ids bigint[];
begin
  if not renew_lease(p_worker_id, null, null) then
    return '[]';
  end if;
  select array_agg(id) into v_ids from (
    select won.id
    from (select run_id from outbox where run_mode = 'local' and ready order by rank, run_id) o
    cross join lateral (
      select id from runs where id = o.run_id and status || '' = 'queued' for update skip locked
    ) won
    limit p_limit
  ) taken;
  if v_ids is null then
    return '[]';
  end if;
  delete from outbox where run_id = any(v_ids);
  return take_runs(p_worker_id, v_ids);
end $$;
`

const RECORD = `
-- The fence: locks the runs that p_keys ({runId, attempt}) name, in order of their ids, and returns those that are running
-- in just that attempt.
create function lock_owned(p_keys jsonb) returns bigint[]
language plpgsql ${BY_INDEX} as $$
declare
  v_named bigint[] := array(select "runId" from jsonb_to_recordset(p_keys) as k("runId" bigint));
begin
  return array_agg(r.id)
  from (select id, attempt, status from runs where id = any(v_named) order by id offset 0 for update) r
  join jsonb_to_recordset(p_keys) as k("runId" bigint, attempt int) on k."runId" = r.id and k.attempt = r.attempt
  where r.status = 'running';
end $$;

-- Writes what became known of running runs. The fence: only where (run, attempt) is the one that runs now. Each key
-- occurs once in p_updates. Returns the ids of the runs that were written.
create function apply_updates(p_updates jsonb) returns bigint[]
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
      updated_at = now()
  from jsonb_to_recordset(p_updates)
    as u("runId" bigint, attempt int, "totalSteps" int, "completedSteps" int, "currentPid" int, facts jsonb)
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

-- Keys among p_keys ({runId, attempt}) that are not the present attempt of a run in p_ids.
create function keys_outside(p_keys jsonb, p_ids bigint[]) returns jsonb
language plpgsql ${BY_INDEX} as $$
begin
  return coalesce(jsonb_agg(jsonb_build_object('runId', k."runId", 'attempt', k.attempt)), '[]')
  from jsonb_to_recordset(p_keys) as k("runId" bigint, attempt int)
  where not exists (
    select 1 from runs r where r.id = any(p_ids) and r.id = k."runId" and r.attempt = k.attempt);
end $$;

create function worker.record(p_updates jsonb) returns jsonb
language plpgsql ${DEFINER} as $$
declare
  v_ids bigint[] := apply_updates(p_updates);
begin
  if cardinality(v_ids) = jsonb_array_length(p_updates) then
    return '[]';
  end if;
  return keys_outside(p_updates, v_ids);
end $$;
`

const FINISH = `
-- Last updates and ends of runs, in the same order of keys. A cancel that was asked for meanwhile wins. An end that
-- was reported before is accepted again and changes nothing: the answer to the first report may have been lost.
create function worker.finish(p_updates jsonb, p_ends jsonb) returns jsonb
language plpgsql ${DEFINER} ${BY_INDEX} as $$
declare
  v_ids bigint[] := apply_updates(p_updates);
  v_ends jsonb;
  v_named bigint[];
begin
  select jsonb_agg(jsonb_build_object(
    'id', r.id,
    'status', case when r.cancel_requested_at is null then e.status else 'cancelled' end,
    'error', case when e."errorMessage" = '' and r.cancel_requested_at is not null then 'cancelled on request'
                  else e."errorMessage" end,
    'pids', e."killedPids", 'reported', true))
  into v_ends
  from jsonb_to_recordset(p_ends)
    as e("runId" bigint, attempt int, status text, "errorMessage" text, "killedPids" jsonb)
  join runs r on r.id = e."runId" and r.attempt = e.attempt
  where r.id = any(v_ids);
  if v_ends is not null then
    v_ids := end_runs(v_ends);
  end if;
  if cardinality(v_ids) = jsonb_array_length(p_ends) then
    return '[]';
  end if;
  v_named := array(select "runId" from jsonb_to_recordset(p_ends) as e("runId" bigint));
  return keys_outside(p_ends, v_ids || array(
    select id from runs where id = any(v_named) and reported_attempt = attempt));
end $$;

create function worker.hand_back(p_keys jsonb) returns void
language plpgsql ${DEFINER} ${BY_INDEX} as $$
declare
  v_ids bigint[] := lock_owned(p_keys);
begin
  if v_ids is not null then
    perform release_runs(v_ids, 0);
  end if;
end $$;
`
