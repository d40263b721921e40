import { sql, type Kysely } from 'kysely'

/**
 * Every move of a run's status but the claim, as functions that masters and workers share. Locks are always taken in
 * this order: jobs, workers, runs by id, outbox, slots; within a statement by id. Nothing here trusts its caller to
 * have looked at the status before.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(VOCABULARY).execute(db)
  await sql.raw(SLOTS).execute(db)
  await sql.raw(END).execute(db)
  await sql.raw(REQUEUE).execute(db)
  await sql.raw(CANCEL).execute(db)
}

// A batch touches tens of rows in tables of millions, by plans that may have been made while the tables were small, and
// that are made once: planning each call anew took longer than running it. So nothing is left to choose. Rows are named
// by arrays of ids; no other condition offers an index (hence `status || ''`); scans of whole tables and loops over the
// batch are ruled out, but for what belongs to one row (`lateral … offset 0`).
const BY_INDEX = `set enable_seqscan = off set enable_nestloop = off set enable_mergejoin = off set jit = off set plan_cache_mode = force_generic_plan`

const VOCABULARY = `
-- Where a status may be reached from; a test compares it with the table of moves in contracts.
create function run_sources(p_to text) returns text[]
language sql immutable parallel safe as $$
  select case p_to
    when 'queued' then array['pending', 'running']
    when 'running' then array['queued']
    when 'completed' then array['running']
    when 'failed' then array['queued', 'running']
    when 'cancelled' then array['pending', 'queued', 'running']
    else array[]::text[]
  end
$$;

-- Lower starts first, and never 0: an unranked message would overtake all others in the queue.
create function priority_rank(p_priority text) returns smallint
language sql immutable parallel safe as $$
  select case p_priority when 'critical' then 1 when 'high' then 2 when 'normal' then 3 else 4 end::smallint
$$;

-- Whether anything waits for events of this topic. Events that nothing wants are born processed; what is wanted is
-- picked up by the event receiver, which replaces this function by one that looks at its triggers.
create function event_is_wanted(p_topic text) returns boolean
language sql stable as $$ select false $$;

create function wake_masters() returns void
language sql as $$ select pg_notify('scanfarm_wake', '') $$;
`

const SLOTS = `
-- Hands p_count free slots of a job to its next waiting runs. Rows that somebody else is just handling are passed over.
create function ready_next(p_job_no bigint, p_count int) returns int
language plpgsql ${BY_INDEX} as $$
declare
  v_ids bigint[];
begin
  select array_agg(run_id) into v_ids from (
    select run_id from outbox where job_no = p_job_no and not ready
    order by run_id limit p_count for update skip locked
  ) next;
  if v_ids is null or exists (select 1 from jobs where id = p_job_no and cancel_requested_at is not null) then
    return 0;
  end if;
  insert into slots (run_id, job_no) select id, p_job_no from unnest(v_ids) id on conflict do nothing;
  update outbox set ready = true where run_id = any(v_ids);
  return cardinality(v_ids);
end $$;

-- Slots of a job that nobody uses; null when the job is unbounded. Locks the job's row, so that two callers never
-- give away the same slot.
create function free_slots(p_job_no bigint) returns int
language plpgsql as $$
declare
  v_concurrency int;
begin
  select concurrency into v_concurrency from jobs where id = p_job_no for no key update;
  if v_concurrency is null then
    return null;
  end if;
  return greatest(0, v_concurrency - (select count(*)::int from slots where job_no = p_job_no));
end $$;

-- Puts queued runs of one job into the outbox, the first p_free of them ready (null: all).
create function fill_outbox(p_job jobs, p_ids bigint[], p_free int) returns void
language plpgsql as $$
begin
  if p_job.run_mode not in ('local', 'distributed') then
    return;
  end if;
  if p_job.concurrency is not null then
    insert into slots (run_id, job_no) select id, p_job.id from unnest(p_ids[1:p_free]) id;
  end if;
  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
  select id, 0, p_job.id, p_job.run_mode, priority_rank(p_job.priority), p_job.requirement_class,
         p_job.concurrency is null or n <= p_free
  from unnest(p_ids) with ordinality u(id, n);
end $$;
`

const END = `
-- The one way in which a run ends: status, open steps, the entry of the event log, its place in the outbox and its
-- slot, which goes to the job's next run in the same transaction. p_ends is an array of
-- {id, status, error, pids, reported}; runs that may not move to that status are left alone. Returns the ids that ended.
create function end_runs(p_ends jsonb) returns bigint[]
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
  return v_ids;
end $$;
`

const REQUEUE = `
-- What the event log says of a run, as JSON text.
create function run_event_data(r runs, j jobs) returns text
language sql stable as $$
  select json_build_object(
    'run_id', r.id, 'run_uuid', r.run_uuid, 'job_id', j.job_id, 'workflow', r.workflow_name, 'kind', j.workflow_kind,
    'target', r.target, 'workspace', r.workspace, 'status', r.status, 'attempt', r.attempt,
    'error_message', r.error_message, 'total_steps', r.total_steps, 'completed_steps', r.completed_steps)::text
$$;

-- Running runs back to queued under a new epoch: messages of the old one are worth nothing from now on. They keep
-- their slot. p_crashes is 1 when their worker was lost and 0 when it gave them back.
create function requeue_runs(p_ids bigint[], p_crashes int) returns bigint[]
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
      error_message = case when p_crashes > 0 then 'the worker was lost' else 'the worker gave the run back' end
  from runs r
  where r.id = any(v_ids) and s.run_id = any(v_ids)
    and s.run_id = r.id and s.attempt = r.attempt and s.status in ('pending', 'running');

  insert into outbox (run_id, epoch, job_no, run_mode, rank, class, ready)
  select r.id, r.epoch, r.job_no, r.run_mode, priority_rank(j.priority), j.requirement_class, true
  from runs r cross join lateral (select * from jobs where id = r.job_no offset 0) j
  where r.id = any(v_ids) and r.run_mode in ('local', 'distributed')
  order by r.id
  on conflict (run_id) do update set epoch = excluded.epoch, ready = true, sent_at = null;
  perform wake_masters();
  return v_ids;
end $$;

-- Runs whose worker is gone or gives them up: cancelled where that was asked, else queued again.
create function release_runs(p_ids bigint[], p_crashes int) returns void
language plpgsql ${BY_INDEX} as $$
begin
  perform 1 from runs where id = any(p_ids) order by id for update;
  perform end_runs(jsonb_agg(jsonb_build_object('id', id, 'status', 'cancelled', 'error', 'cancelled on request')))
  from runs where id = any(p_ids) and status || '' = 'running' and cancel_requested_at is not null
  having count(*) > 0;
  perform requeue_runs(p_ids, p_crashes);
end $$;
`

const CANCEL = `
-- Waiting runs are cancelled at once, running ones are asked to end. One row for each run that had not ended.
create function request_cancel(p_ids bigint[])
returns table (id bigint, run_uuid uuid, worker_id text, was text, status text)
language plpgsql ${BY_INDEX} as $$
#variable_conflict use_column
declare
  v_waiting bigint[];
  v_running bigint[];
begin
  perform 1 from runs where id = any(p_ids) order by id for update;
  select array_agg(id) filter (where status <> 'running'), array_agg(id) filter (where status = 'running')
  into v_waiting, v_running
  from runs where id = any(p_ids) and status || '' = any(run_sources('cancelled'));
  update runs set cancel_requested_at = coalesce(cancel_requested_at, now()), updated_at = now()
  where id = any(v_running);
  return query select r.id, r.run_uuid, r.worker_id, r.status,
                      case r.status when 'running' then 'running' else 'cancelled' end
               from runs r where r.id = any(v_waiting || v_running) order by r.id;
  if v_waiting is not null then
    perform end_runs((select jsonb_agg(jsonb_build_object('id', id, 'status', 'cancelled',
                                                          'error', 'cancelled on request')) from unnest(v_waiting) id));
  end if;
end $$;
`
