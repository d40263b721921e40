import { sql, type Kysely } from 'kysely'

/**
 * A claim costs what its runs have in bytes and no more, and a run that cannot be claimed stands in nobody's way. Params
 * travel as the text that they are: a jsonb value that is built of large ones takes the square of their size, inside of
 * one call that no timeout can end.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(COLUMNS).execute(db)
  await sql.raw(TAKE).execute(db)
  await sql.raw(CLAIM).execute(db)
  await sql.raw(SET_ASIDE).execute(db)
  await sql.raw(CLAIM_CLOUD).execute(db)
  await sql.raw(GRANTS).execute(db)
}

const DEFINER = `security definer set search_path = pg_catalog, public, pg_temp`

// Nothing is left to choose for a planner that knows the tables from when they were empty: see 0004.
const BY_INDEX = `set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan`
const BY_WALK = `set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off`

/**
 * A run whose worker was lost is a suspect. A worker begins another one only when the last has gone well for this long,
 * or has ended; beside one that lost two workers it begins none. So the next loss shows which of them it was.
 */
const PROBATION = `interval '10 s'`

/** A run that was set aside is offered again after this. The dispatcher's own time for rows that it has sent. */
const ASIDE = `interval '10 s'`
/** A suspect that its worker cannot take yet is offered again sooner. */
const NEXT_WORKER = `interval '2 s'`

const COLUMNS = `
-- The workers that were lost under it, for its message.
alter table runs add column lost_workers text[] not null default '{}';
-- The newest entry of the event log when a claim of it failed for the first time; null: none did.
alter table runs add column stuck_since bigint;
-- When its present attempt was given to a worker.
alter table runs add column claimed_at timestamptz;
`

const TAKE = `
drop function worker.claim(text, bigint[], int[]);
drop function worker.claim_local(text, int);
drop function claim_cloud(text, int);
drop function take_runs(text, bigint[]);

-- Gives locked, queued runs to a worker and returns what it needs to run them.
create function take_runs(p_worker_id text, p_ids bigint[]) returns json
language plpgsql ${BY_INDEX} as $$
declare
  v_floor bigint;
begin
  select last_value into v_floor from event_logs_id_seq;
  update runs
  set status = 'running', attempt = attempt + 1, worker_id = p_worker_id, started_at = coalesce(started_at, now()),
      claimed_at = now(),
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

  return (
    select json_agg(json_build_object(
      'runId', r.id, 'attempt', r.attempt, 'epoch', r.epoch, 'runUuid', r.run_uuid, 'jobId', j.job_id,
      'workflowName', r.workflow_name, 'workflowKind', j.workflow_kind, 'workflowHash', j.workflow_hash,
      'target', r.target, 'params', j.params, 'workspace', r.workspace, 'priority', j.priority, 'runMode', r.run_mode,
      'timeoutMs', j.timeout_minutes::bigint * 60000,
      'runner', case when j.runner_given then json_strip_nulls(json_build_object(
        'type', j.runner_type, 'dockerImage', nullif(j.docker_image, ''), 'sshHost', nullif(j.ssh_host, ''))) end,
      'cancelRequested', r.cancel_requested_at is not null, 'eventEnvelope', j.event_envelope))
    from runs r cross join lateral (select * from jobs where id = r.job_no offset 0) j
    where r.id = any(p_ids));
end $$;
`

const SET_ASIDE = `
-- Whether an error says something of the data of a run, and not of the database or of others who use it.
create function is_of_the_run(p_sqlstate text) returns boolean
language sql immutable parallel safe as $$
  select left(p_sqlstate, 2) not in ('08', '25', '40', '53', '55', '57', '58')
$$;

-- A locked, queued run that could not be given to a worker waits for a while. It ends when another run could be given
-- since: then it is not the database that fails.
create function set_aside(p_id bigint, p_reason text) returns void
language plpgsql as $$
declare
  v_run runs;
begin
  select * into v_run from runs where id = p_id and status = 'queued' for update;
  if not found then
    return;
  end if;
  if v_run.stuck_since is not null and exists (
    select from event_logs where id > v_run.stuck_since and topic = 'run.started'
  ) then
    perform end_runs(jsonb_build_array(jsonb_build_object('id', p_id, 'status', 'failed',
      'error', 'quarantined: no worker could take it, while others were taken: ' || left(p_reason, 1000))));
    return;
  end if;
  update runs set stuck_since = coalesce(stuck_since, (select last_value from event_logs_id_seq)), updated_at = now()
  where id = p_id;
  perform wait_aside(array[p_id], interval '0');
end $$;

-- Queued runs whose message is used up are offered again later: as rows that were sent and may not have arrived.
-- p_waited: what they need not wait of the usual time.
create function wait_aside(p_ids bigint[], p_waited interval) returns void
language sql as $$
  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready, instance_no, sent_at)
  select r.id, r.epoch, r.job_no, r.run_mode, priority_rank(j.priority), j.requirement_class, true, r.instance_no,
         now() - p_waited
  from runs r join jobs j on j.id = r.job_no
  where r.id = any(p_ids)
  order by r.id
  on conflict (run_id) do update set epoch = excluded.epoch, ready = true, sent_at = excluded.sent_at
$$;

-- take_runs, where a run that makes it fail is set aside and the others are given. Their rows in the outbox go.
create function give_runs(p_worker_id text, p_ids bigint[]) returns json
language plpgsql as $$
declare
  v_id bigint;
  v_one json;
  v_given json[] := '{}';
begin
  begin
    delete from outbox where run_id = any(p_ids);
    return take_runs(p_worker_id, p_ids);
  exception when others then
    if not is_of_the_run(sqlstate) then
      raise;
    end if;
  end;
  foreach v_id in array p_ids loop
    begin
      delete from outbox where run_id = v_id;
      v_one := take_runs(p_worker_id, array[v_id]);
      v_given := v_given || (v_one -> 0);
    exception when others then
      if not is_of_the_run(sqlstate) then
        raise;
      end if;
      perform set_aside(v_id, sqlerrm);
    end;
  end loop;
  return array_to_json(v_given);
end $$;

-- Whether a worker may begin with a suspect.
create function takes_suspect(p_worker_id text) returns boolean
language sql stable as $$
  select not exists (
    select from runs
    where worker_id = p_worker_id and status = 'running'
      and (crashes > 1 or (crashes = 1 and claimed_at > now() - ${PROBATION})))
$$;

-- Those of some locked runs that a worker may begin with now: all but the suspects, and at most one of these.
create function fit_together(p_worker_id text, p_ids bigint[]) returns bigint[]
language plpgsql ${BY_INDEX} as $$
declare
  v_suspects bigint[] := array(select id from runs where id = any(p_ids) and crashes > 0 order by id);
begin
  if cardinality(v_suspects) = 0 then
    return p_ids;
  end if;
  if takes_suspect(p_worker_id) then
    v_suspects := v_suspects[2:];
  end if;
  return array(select id from unnest(p_ids) id where id <> all(v_suspects));
end $$;

-- For a claim of one run that did not end in time.
create function worker.set_aside(p_worker_id text, p_run_id bigint, p_epoch int, p_reason text) returns void
language plpgsql ${DEFINER} as $$
begin
  if renew_lease(p_worker_id, null, null)
     and exists (select from runs where id = p_run_id and epoch = p_epoch and status = 'queued') then
    perform set_aside(p_run_id, p_reason);
  end if;
end $$;

-- The same for the run that a claim of a local run would take first.
create function worker.set_aside_local(p_worker_id text, p_reason text) returns void
language plpgsql ${DEFINER} as $$
declare
  v_id bigint := (select min(run_id) from first_local(1, true) as run_id);
begin
  if v_id is not null and renew_lease(p_worker_id, null, null) then
    perform set_aside(v_id, p_reason);
  end if;
end $$;
`

const CLAIM = `
-- The claim decides who runs: of all that hold a ticket for the same epoch, one gets the run. Null for a worker that
-- is unknown or was declared lost: an empty list would say that its tickets are worth nothing to anybody.
create function worker.claim(p_worker_id text, p_run_ids bigint[], p_epochs int[]) returns json
language plpgsql ${DEFINER} ${BY_INDEX} as $$
declare
  v_ids bigint[];
  v_fit bigint[];
begin
  if not renew_lease(p_worker_id, null, null) then
    return null;
  end if;
  select array_agg(r.id) into v_ids
  from (select id, epoch, status from runs where id = any(p_run_ids) order by id offset 0 for update) r
  join unnest(p_run_ids, p_epochs) as t(run_id, epoch) on t.run_id = r.id and t.epoch = r.epoch
  where r.status = 'queued';
  if v_ids is null then
    return '[]';
  end if;
  v_fit := fit_together(p_worker_id, v_ids);
  if cardinality(v_fit) < cardinality(v_ids) then
    perform wait_aside(array(select id from unnest(v_ids) id where id <> all(v_fit)), ${ASIDE} - ${NEXT_WORKER});
  end if;
  return case when cardinality(v_fit) = 0 then '[]' else give_runs(p_worker_id, v_fit) end;
end $$;

-- Up to p_limit waiting local runs in order of priority, locked. Rows that another server is taking are passed over,
-- never waited for: runs are locked in order of priority here, which is not the order of their ids.
create function first_local(p_limit int, p_suspects boolean) returns setof bigint
language sql ${BY_WALK} as $$
  select won.id
  from (
    select run_id from outbox
    where run_mode = 'local' and ready and (sent_at is null or sent_at < now() - ${ASIDE})
    order by rank, run_id
  ) o
  cross join lateral (
    select id from runs
    where id = o.run_id and status || '' = 'queued' and (p_suspects or crashes = 0)
    for update skip locked
  ) won
  limit p_limit
$$;

-- Local runs come straight from the outbox.
create function worker.claim_local(p_worker_id text, p_limit int) returns json
language plpgsql ${DEFINER} ${BY_WALK} as $$
declare
  v_ids bigint[];
begin
  if not renew_lease(p_worker_id, null, null) then
    return '[]';
  end if;
  v_ids := fit_together(p_worker_id, array(select first_local(p_limit, takes_suspect(p_worker_id))));
  return case when cardinality(v_ids) = 0 then '[]' else give_runs(p_worker_id, v_ids) end;
end $$;
`

const CLAIM_CLOUD = `
-- As it was in 0015, but for runs that are set aside and for suspects.
create function claim_cloud(p_worker_id text, p_limit int) returns json
language plpgsql ${BY_WALK} as $$
declare
  v_machines bigint[];
  v_ids bigint[];
  v_suspects boolean := takes_suspect(p_worker_id);
begin
  if not renew_lease(p_worker_id, null, null) then
    return '[]';
  end if;
  perform pg_advisory_xact_lock(hashtext('scanfarm cloud claim'));
  -- A machine that is being lost is passed over; one that is held cannot be lost before its runs are known.
  v_machines := array(
    select i.id from cloud_instances i join cloud_infras f on f.id = i.infra_no
    where i.status = 'ready' and f.status = 'ready'
      and exists (select from outbox o where o.instance_no = i.id and o.ready and o.run_mode = 'cloud')
    order by i.id for share of i skip locked);
  select array_agg(id) into v_ids from (
    select won.id
    from (
      select heads.run_id
      from (
        select id, (select count(*) from runs where instance_no = id_of.id and status = 'running') as busy
        from unnest(v_machines) as id_of(id) offset 0
      ) m
      cross join lateral (
        select o.run_id, o.rank,
               bool_and(m.busy + o.n <= ceil(coalesce(j.concurrency, 1)::numeric / f.instances))
                 over (order by o.rank, o.run_id) as fits
        from (
          select run_id, rank, job_no, row_number() over (order by rank, run_id) as n
          from (select run_id, rank, job_no from outbox
                where instance_no = m.id and ready and run_mode = 'cloud'
                  and (sent_at is null or sent_at < now() - ${ASIDE})
                order by rank, run_id limit p_limit) waiting
        ) o
        join jobs j on j.id = o.job_no
        join cloud_infras f on f.id = j.infra_no
      ) heads
      where heads.fits
      order by heads.rank, heads.run_id
    ) o
    cross join lateral (
      select id from runs
      where id = o.run_id and status || '' = 'queued' and (v_suspects or crashes = 0)
      for update skip locked
    ) won
    limit p_limit
  ) taken;
  v_ids := fit_together(p_worker_id, coalesce(v_ids, '{}'));
  return case when cardinality(v_ids) = 0 then '[]' else give_runs(p_worker_id, v_ids) end;
end $$;
`

// Functions may be executed by everybody unless that is taken back.
const GRANTS = `
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p
    where p.pronamespace in ('public'::regnamespace, 'worker'::regnamespace)
      and p.proowner = (select oid from pg_roles where rolname = current_user)
  loop
    execute format('revoke all on function %s from public', v_function);
  end loop;
  if exists (select from pg_roles where rolname = 'scanfarm_worker') then
    perform grant_worker_role('scanfarm_worker');
  end if;
end $$;
`
