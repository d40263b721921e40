import { sql, type Kysely } from 'kysely'

/** How runs get to their machines and away from them; and what the functions of all runs do for cloud runs as well. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(WAITING).execute(db)
  await sql.raw(LIFECYCLE).execute(db)
  await sql.raw(REQUEUE).execute(db)
  await sql.raw(SUBMIT).execute(db)
  await sql.raw(BIND).execute(db)
  await sql.raw(CLAIM).execute(db)
  await sql.raw(CLOSED).execute(db)
}

// Nothing is left to choose for a planner that knows the tables from when they were empty: see 0004. These call one
// another, so each of them says all of it.
const BY_INDEX = `set enable_seqscan = off set enable_hashjoin = on set enable_nestloop = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan`
// The same where rows are found by walking from one index to the next.
const BY_WALK = `set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off`

/** A run under which machines were lost more often than this is given up: it may be what kills them. */
const MOST_MOVES = 5

/** Of what is ready on a machine, when machines are compared. */
const MOST_COUNTED = 100

const WAITING = `
-- Ends runs as their infrastructure says, if it takes no more: waiting ones at once, and running ones too unless they
-- are to be cancelled, which whoever runs them has to do. Returns those that were asked to end.
create function end_runs_of_infra(p_infra_no bigint, p_ids bigint[]) returns bigint[]
language plpgsql ${BY_INDEX} as $$
declare
  v_infra cloud_infras;
  v_asked bigint[];
begin
  select * into v_infra from cloud_infras where id = p_infra_no;
  if v_infra.ends_runs_as is null then
    return '{}';
  end if;
  perform 1 from runs where id = any(p_ids) order by id for update;
  if v_infra.ends_runs_as = 'cancelled' then
    with asked as (
      update runs set cancel_requested_at = now(), updated_at = now()
      where id = any(p_ids) and status || '' = 'running' and cancel_requested_at is null
      returning id
    )
    select array_agg(id order by id) into v_asked from asked;
  end if;
  perform end_runs(jsonb_agg(jsonb_build_object(
    'id', id, 'error', v_infra.end_reason,
    'status', case when cancel_requested_at is null then v_infra.ends_runs_as else 'cancelled' end)))
  from runs
  where id = any(p_ids)
    and (status || '' = 'queued' or (status || '' = 'running' and v_infra.ends_runs_as = 'failed'))
  having count(*) > 0;
  return coalesce(v_asked, '{}');
end $$;

-- A part of the runs of an infrastructure that takes no more: {handled, asked}. Call it until it has handled none.
create function end_some_runs_of_infra(p_infra_no bigint, p_limit int) returns jsonb
language plpgsql ${BY_WALK} as $$
declare
  v_ends_as text := (select ends_runs_as from cloud_infras where id = p_infra_no);
  v_ids bigint[];
begin
  if v_ends_as is null then
    return '{"handled": 0, "asked": []}';
  end if;
  v_ids := array(
    select r.id from jobs j join runs r on r.job_no = j.id
    where j.infra_no = p_infra_no and r.run_mode = 'cloud' and r.status in ('pending', 'queued', 'running')
      and (r.status = 'queued'
           or (r.status = 'running' and (v_ends_as = 'failed' or r.cancel_requested_at is null)))
    limit p_limit);
  return jsonb_build_object('handled', cardinality(v_ids), 'asked', to_jsonb(end_runs_of_infra(p_infra_no, v_ids)));
end $$;

-- Queued runs need a machine: their infrastructures are told, and those that take no more end them.
create function seek_machines(p_ids bigint[]) returns void
language plpgsql ${BY_INDEX} as $$
declare
  v_no bigint;
  v_ids bigint[];
begin
  for v_no, v_ids in
    select j.infra_no, array_agg(r.id order by r.id)
    from runs r cross join lateral (select * from jobs where id = r.job_no offset 0) j
    where r.id = any(p_ids) and j.infra_no is not null
    group by j.infra_no order by j.infra_no
  loop
    -- Held: whoever moved it meanwhile would not see these runs.
    perform 1 from cloud_infras where id = v_no for no key update;
    perform poke_infra(v_no);
    perform end_runs_of_infra(v_no, v_ids);
  end loop;
end $$;

-- The end of the last run of a job concerns an infrastructure that shall not outlive its work.
create function poke_finished(p_ids bigint[]) returns void
language plpgsql ${BY_WALK} as $$
declare
  v_no bigint;
begin
  for v_no in
    select f.id
    from (select distinct job_no from runs where id = any(p_ids)) r
    cross join lateral (select * from jobs where id = r.job_no offset 0) j
    join cloud_infras f on f.id = j.infra_no
    where f.auto_destroy and f.status = 'ready' and not exists (
      select from runs o
      where o.job_no = r.job_no and o.run_mode = 'cloud' and o.status in ('pending', 'queued', 'running') offset 0)
    order by f.id
  loop
    perform poke_infra(v_no);
  end loop;
end $$;
`

const LIFECYCLE = `
-- Up to p_count runs of a cloud job that shall be ready next: those of the machines that have least to do. Null: none of
-- its waiting runs is bound.
create function next_on_machines(p_job_no bigint, p_count int) returns bigint[]
language plpgsql ${BY_WALK} as $$
begin
  return (
    select array_agg(won.run_id)
    from (
      select waiting.run_id
      from jobs j
      join cloud_instances i on i.infra_no = j.infra_no and i.status || '' = 'ready'
      cross join lateral (
        select run_id, row_number() over (order by run_id) as n
        from (select run_id from outbox
              where instance_no = i.id and job_no = p_job_no and not ready and run_mode = 'cloud'
              order by run_id limit p_count) head
      ) waiting
      cross join lateral (
        select (select count(*) from runs where instance_no = i.id and status = 'running')
             + (select count(*) from (select from outbox
                                      where instance_no = i.id and ready and run_mode = 'cloud'
                                      limit ${MOST_COUNTED}) ahead) as load offset 0
      ) busy
      where j.id = p_job_no
      order by busy.load + waiting.n, waiting.run_id limit p_count
    ) chosen
    cross join lateral (
      select run_id from outbox where run_id = chosen.run_id and not ready for update skip locked
    ) won);
end $$;

-- Hands p_count free slots of a job to its next waiting runs. Rows that somebody else is just handling are passed over.
create or replace function ready_next(p_job_no bigint, p_count int) returns int
language plpgsql ${BY_INDEX} as $$
declare
  v_ids bigint[];
begin
  if exists (select from jobs where id = p_job_no and infra_no is not null) then
    v_ids := next_on_machines(p_job_no, p_count);
  end if;
  if coalesce(cardinality(v_ids), 0) < p_count then
    select v_ids || array_agg(run_id) into v_ids from (
      select run_id from outbox where job_no = p_job_no and not ready and run_id <> all(coalesce(v_ids, '{}'))
      order by run_id limit p_count - coalesce(cardinality(v_ids), 0) for update skip locked
    ) next;
  end if;
  if v_ids is null or exists (select 1 from jobs where id = p_job_no and cancel_requested_at is not null) then
    return 0;
  end if;
  insert into slots (run_id, job_no) select id, p_job_no from unnest(v_ids) id on conflict do nothing;
  update outbox set ready = true where run_id = any(v_ids);
  return cardinality(v_ids);
end $$;

-- As it was in 0004, and tells the infrastructure.
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
        reported_attempt = case when e.reported then r.attempt else r.reported_attempt end
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

-- Puts queued runs of one job into the outbox, the first p_free of them ready (null: all).
create or replace function fill_outbox(p_job jobs, p_ids bigint[], p_free int) returns void
language plpgsql as $$
begin
  if p_job.run_mode = 'cloud' and p_job.infra_no is null then
    raise exception 'a cloud run cannot start without an infrastructure';
  end if;
  if p_job.concurrency is not null then
    insert into slots (run_id, job_no) select id, p_job.id from unnest(p_ids[1:p_free]) id;
  end if;
  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
  select id, 0, p_job.id, p_job.run_mode, priority_rank(p_job.priority), p_job.requirement_class,
         p_job.concurrency is null or n <= p_free
  from unnest(p_ids) with ordinality u(id, n);
  if p_job.run_mode = 'cloud' then
    perform seek_machines(p_ids);
  end if;
end $$;
`

const REQUEUE = `
-- Running runs back to queued under a new epoch: messages of the old one are worth nothing from now on. They keep
-- their slot, and their machine while it is there. p_crashes is 1 when their worker was lost and 0 when it was not.
create function requeue_runs(p_ids bigint[], p_crashes int, p_why text) returns bigint[]
language plpgsql ${BY_INDEX} as $$
declare
  v_ids bigint[];
begin
  perform 1 from runs where id = any(p_ids) order by id for update;

  with moved as (
    update runs
    set status = 'queued', epoch = epoch + 1, crashes = crashes + p_crashes, current_pid = 0,
        total_steps = 0, completed_steps = 0, updated_at = now()
    where id = any(p_ids) and status || '' = 'running'
    returning id
  )
  select array_agg(id order by id) into v_ids from moved;
  if v_ids is null then
    return '{}';
  end if;

  update steps s
  set status = case when s.status = 'pending' then 'cancelled' else 'failed' end,
      completed_at = now(),
      error_message = p_why
  from runs r
  where r.id = any(v_ids) and s.run_id = any(v_ids)
    and s.run_id = r.id and s.attempt = r.attempt and s.status in ('pending', 'running');

  update runs r set instance_no = null
  where id = any(v_ids) and instance_no is not null
    and not exists (select from cloud_instances i where i.id = r.instance_no and i.status = 'ready' offset 0);

  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready, instance_no)
  select r.id, r.epoch, r.job_no, r.run_mode, priority_rank(j.priority), j.requirement_class, true, r.instance_no
  from runs r cross join lateral (select * from jobs where id = r.job_no offset 0) j
  where r.id = any(v_ids)
  order by r.id
  on conflict (run_id) do update
  set epoch = excluded.epoch, ready = true, sent_at = null, instance_no = excluded.instance_no;
  perform wake_masters();
  if exists (select from runs where id = any(v_ids) and run_mode || '' = 'cloud') then
    perform seek_machines(v_ids);
  end if;
  return v_ids;
end $$;

create or replace function requeue_runs(p_ids bigint[], p_crashes int) returns bigint[]
language sql as $$
  select requeue_runs(p_ids, p_crashes,
                      case when p_crashes > 0 then 'the worker was lost' else 'the worker gave the run back' end)
$$;
`

const SUBMIT = `
create function asks_auto_destroy(p_job jobs) returns boolean
language sql immutable parallel safe as $$
  select coalesce((p_job.cloud ->> 'cloud_auto_destroy')::boolean, false)
$$;

-- One job with its runs, in one statement. p_job holds the columns of jobs and the workflow's JSON text, and for a
-- cloud job cloud_infra ({infra, budget} or {reuse}). With p_idempotency ({key, request_hash, status, body}) an answer
-- that is kept already wins: it is returned and nothing is made. Runs of a job with stored targets (p_stored) come
-- later, by expand_chunk; whoever stores them has to demand the infrastructure at the end.
create or replace function submit_job(p_job jsonb, p_targets text[], p_workspaces text[], p_uuid uuid, p_stored boolean,
                           p_idempotency jsonb) returns jsonb
language plpgsql as $$
declare
  v_job jobs;
  v_kept idempotency_keys;
  v_infra_no bigint;
begin
  if p_idempotency is not null then
    insert into idempotency_keys (key, request_hash, status, body)
    select key, request_hash, status, body from jsonb_populate_record(null::idempotency_keys, p_idempotency)
    on conflict do nothing;
    if not found then
      select * into v_kept from idempotency_keys where key = p_idempotency ->> 'key';
      return jsonb_build_object('kept', to_jsonb(v_kept));
    end if;
  end if;

  if p_job -> 'cloud_infra' <> 'null' then
    v_infra_no := infra_for(p_job -> 'cloud_infra');
  end if;
  insert into pinned_workflows (hash, json) values (p_job ->> 'workflow_hash', p_job ->> 'workflow_json')
  on conflict do nothing;
  insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type, trigger_name,
    schedule_id, event_envelope, starts, target_count, cloud, infra_no)
  select job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type, trigger_name,
    schedule_id, event_envelope, starts, target_count, cloud, v_infra_no
  from jsonb_populate_record(null::jobs, p_job)
  returning * into v_job;
  if not p_stored then
    perform insert_runs(v_job, p_targets, p_workspaces, p_uuid);
    perform demand_infra(v_infra_no, asks_auto_destroy(v_job)) where v_infra_no is not null;
  end if;
  perform wake_masters();
  return jsonb_build_object('job_no', v_job.id);
end $$;

-- start_run for a cloud run: on the infrastructure of its job while that takes runs, else on the one p_cloud names.
create function start_cloud_run(p_id bigint, p_cloud jsonb) returns boolean
language plpgsql as $$
declare
  v_job jobs;
begin
  select j.* into v_job from jobs j join runs r on r.job_no = j.id where r.id = p_id for no key update of j;
  perform 1 from runs where id = p_id and status = 'pending' for update;
  if not found then
    return false;
  end if;
  if not exists (select from cloud_infras where id = v_job.infra_no and ends_runs_as is null) then
    v_job.infra_no := infra_for(p_cloud);
    update jobs set infra_no = v_job.infra_no where id = v_job.id;
  end if;
  perform start_run(p_id);
  perform demand_infra(v_job.infra_no, asks_auto_destroy(v_job));
  return true;
end $$;
`

const BIND = `
-- Takes the runs off a machine: running ones go back to queued, waiting ones are bound anew. Returns how many ran.
create function leave_instance(p_instance_no bigint, p_message text) returns int
language plpgsql ${BY_WALK} as $$
declare
  v_ids bigint[];
  v_why text := 'the machine was lost' || coalesce(': ' || nullif(p_message, ''), '');
  v_end_reason text := (
    select nullif(f.end_reason, '') from cloud_instances i join cloud_infras f on f.id = i.infra_no
    where i.id = p_instance_no);
begin
  with waiting as (
    update outbox set instance_no = null where run_mode = 'cloud' and instance_no = p_instance_no returning run_id
  )
  update runs set instance_no = null
  where id in (select run_id from waiting) and status || '' = 'queued';

  v_ids := array(select id from runs where instance_no = p_instance_no and status = 'running');
  perform 1 from runs where id = any(v_ids) order by id for update;
  with moved as (
    update runs set moves = moves + 1
    where id = any(v_ids) and instance_no = p_instance_no and status || '' = 'running' returning id
  )
  select array_agg(id) into v_ids from moved;
  if v_ids is null then
    return 0;
  end if;
  perform end_runs(jsonb_agg(jsonb_build_object(
    'id', id,
    'status', case when cancel_requested_at is null then 'failed' else 'cancelled' end,
    'error', case when cancel_requested_at is null
      then format('given up: machines were lost under this, %s times; the last one: %s', moves, coalesce(p_message, ''))
      else coalesce(v_end_reason, 'cancelled on request; ' || v_why) end)))
  from runs where id = any(v_ids) and (cancel_requested_at is not null or moves > ${MOST_MOVES})
  having count(*) > 0;
  return cardinality(requeue_runs(v_ids, 0, v_why));
end $$;

-- Binds waiting runs of a ready infrastructure to its ready machines, one after the other; up to p_limit. Runs whose row
-- somebody else has are left for the next time.
create function bind_runs(p_infra_no bigint, p_limit int) returns int
language plpgsql ${BY_WALK} as $$
declare
  v_machines bigint[];
  v_bound bigint;
  v_ids bigint[];
  v_no bigint;
begin
  perform pg_advisory_xact_lock(hashtextextended('scanfarm cloud binding', p_infra_no));
  select bound into v_bound from cloud_infras where id = p_infra_no and status = 'ready';
  if not found then
    return 0;
  end if;
  v_machines := array(
    select id from cloud_instances where infra_no = p_infra_no and status = 'ready' order by id for share);
  -- A run may have been handed back while its machine was being lost.
  for v_no in
    select i.id from cloud_instances i
    where i.infra_no = p_infra_no and i.status <> 'ready'
      and exists (select from outbox o where o.run_mode = 'cloud' and o.instance_no = i.id)
  loop
    perform leave_instance(v_no, null);
  end loop;
  if cardinality(v_machines) = 0 then
    return 0;
  end if;
  select array_agg(id order by id) into v_ids from (
    select won.id
    from (
      select o.run_id from jobs j join outbox o on o.job_no = j.id
      where j.infra_no = p_infra_no and o.run_mode = 'cloud' and o.instance_no is null
      order by o.run_id limit p_limit
    ) o
    cross join lateral (
      select id from runs where id = o.run_id and status || '' = 'queued' for update skip locked
    ) won
  ) taken;
  if v_ids is null then
    return 0;
  end if;
  update runs r set instance_no = v_machines[1 + (v_bound + u.n - 1) % cardinality(v_machines)]
  from unnest(v_ids) with ordinality u(id, n)
  where r.id = u.id;
  update outbox o set instance_no = v_machines[1 + (v_bound + u.n - 1) % cardinality(v_machines)]
  from unnest(v_ids) with ordinality u(id, n)
  where o.run_id = u.id;
  update cloud_infras set bound = bound + cardinality(v_ids) where id = p_infra_no;
  perform wake_masters();
  return cardinality(v_ids);
end $$;
`

const CLAIM = `
-- Up to p_limit waiting runs of machines with room, the most urgent first. A machine runs one at a time, or its share of
-- the concurrency of the job of the next run; all that runs on it counts, and no run passes a more urgent one. One claim
-- at a time over the farm, so that room is never given away twice. Not for workers: they cannot reach the machines.
create function claim_cloud(p_worker_id text, p_limit int) returns jsonb
language plpgsql ${BY_WALK} as $$
declare
  v_machines bigint[];
  v_ids bigint[];
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
                order by rank, run_id limit p_limit) waiting
        ) o
        join jobs j on j.id = o.job_no
        join cloud_infras f on f.id = j.infra_no
      ) heads
      where heads.fits
      order by heads.rank, heads.run_id
    ) o
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

// Functions may be executed by everybody unless that is taken back.
const CLOSED = `
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.proowner = (select oid from pg_roles where rolname = current_user)
  loop
    execute format('revoke all on function %s from public', v_function);
  end loop;
end $$;
`
