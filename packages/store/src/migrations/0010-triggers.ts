import { sql, type Kysely } from 'kysely'

/**
 * Triggers: what fires, exactly once, whoever notices first. A firing is a row with a unique key (trigger and event,
 * fire time or state of a file), and it is written in the transaction that makes its job and tells the event log.
 * Locks are taken in this order: the event or clock, the trigger (advisory), then as in the lifecycle.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(LOG).execute(db)
  await sql.raw(STEPS).execute(db)
  await sql.raw(TABLES).execute(db)
  await sql.raw(FIRE).execute(db)
  await sql.raw(EVENTS).execute(db)
  await sql.raw(CLOCKS).execute(db)
  await sql.raw(WAITING).execute(db)
  await sql.raw(CLOSED).execute(db)
}

const LOG = `
-- The transaction that wrote the entry. An id that was taken earlier may be committed later, so readers that must not
-- miss anything go by (tx, id), below the oldest transaction that is still under way.
alter table event_logs add column tx xid8 not null default pg_current_xact_id();
-- Until then a master is working on it; a hint that spares the others the same work, no lock.
alter table event_logs add column claimed_until timestamptz;
create index event_logs_feed on event_logs (tx, id);

-- Topics that triggers wait for. Each master says again and again what it knows; what nobody has said for a while goes.
create table trigger_topics (
  topic text collate "C" primary key,
  -- Regular expression for topics with wildcards, else null.
  pattern text,
  seen_at timestamptz not null default now()
);

create or replace function event_is_wanted(p_topic text) returns boolean
language sql stable as $$
  select exists (
    select from trigger_topics where case when pattern is null then topic = p_topic else p_topic ~ pattern end)
$$;
`

const STEPS = `
-- A step that ends tells the event log, whatever ended it. Statuses that are final never change again, so that each
-- row in here has just become what it is.
create function tell_ended_steps() returns trigger
language plpgsql as $$
begin
  if exists (select from written where status in ('completed', 'failed')) then
    insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                            processed, processed_at)
    select e.topic, 'evt_' || replace(s.id::text, '-', ''), e.topic, 'executor', 'step',
           json_build_object(
             'run_id', r.id, 'run_uuid', r.run_uuid, 'workflow', r.workflow_name, 'target', r.target,
             'attempt', s.attempt, 'step_id', s.id, 'step_name', s.name, 'step_type', s.type, 'module', s.module,
             'status', s.status, 'duration_ms', s.duration_ms, 'exit_code', s.exit_code,
             'error_message', left(s.error_message, 2000))::text,
           r.workspace, r.run_uuid::text, r.workflow_name,
           not e.wanted, case when e.wanted then null else now() end
    from written s
    cross join lateral (select * from runs where id = s.run_id offset 0) r
    cross join lateral (select t.topic, event_is_wanted(t.topic) as wanted
                        from (select 'step.' || s.status as topic) t offset 0) e
    where s.status in ('completed', 'failed')
    order by s.run_id, s.seq;
  end if;
  return null;
end $$;
create trigger steps_inserted after insert on steps
  referencing new table as written for each statement execute function tell_ended_steps();
create trigger steps_updated after update on steps
  referencing new table as written for each statement execute function tell_ended_steps();
`

const TABLES = `
-- Triggers that came in over the API. What only some types have stands in spec.
create table schedules (
  id text collate "C" primary key,
  no bigint generated always as identity unique,
  name text not null,
  workflow_name text not null,
  workflow_kind text not null check (workflow_kind in ('flow', 'module')),
  target text not null,
  workspace text not null,
  params jsonb not null,
  trigger_type text not null check (trigger_type in ('cron', 'event', 'watch')),
  schedule text not null,
  event_topic text not null,
  watch_path text not null,
  spec jsonb not null,
  is_enabled boolean not null,
  last_run timestamptz,
  run_count int not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

-- One row for each time that a trigger fired, or would have. 'open': its runs may be under way; 'waiting': they start
-- when the open ones have ended; 'done': nobody has to look at it any more; 'skipped': it made no run.
create table trigger_firings (
  trigger_key text collate "C" not null,
  fire_key text collate "C" not null,
  state text not null check (state in ('done', 'open', 'waiting', 'skipped')),
  job_no bigint,
  fired_at timestamptz not null default clock_timestamp(),
  primary key (trigger_key, fire_key)
);
create index trigger_firings_pending on trigger_firings (trigger_key, state, fired_at) where state in ('open', 'waiting');
create index trigger_firings_age on trigger_firings (fired_at);

-- A dedupe key fires once until then.
create table trigger_dedupe (
  trigger_key text collate "C" not null,
  dedupe_key text collate "C" not null,
  until timestamptz not null,
  primary key (trigger_key, dedupe_key)
);
create index trigger_dedupe_until on trigger_dedupe (until);

-- How far the firings of a cron trigger are decided, and which watches know the files that were there before them.
-- Another spec_hash is another trigger: it begins anew.
create table trigger_clocks (
  trigger_key text collate "C" primary key,
  spec_hash text not null,
  handled_until timestamptz not null,
  seen_at timestamptz not null default now()
);

-- The last state of each file that a watch has dealt with.
create table watched_files (
  trigger_key text collate "C" not null,
  path text collate "C" not null,
  mark text not null,
  primary key (trigger_key, path)
);
`

const FIRE = `
-- Forgets about firings whose runs have all ended.
create function close_firings(p_trigger_key text) returns void
language sql as $$
  update trigger_firings f set state = 'done'
  where trigger_key = p_trigger_key and state = 'open'
    and not exists (select from runs r where r.job_no = f.job_no and r.status in ('pending', 'queued', 'running'))
$$;

-- One firing of one trigger: {trigger_key, overlap, dedupe_key, dedupe_ms, schedule_id, job, targets, workspaces, uuid}.
-- Returns {trigger_key, outcome, error, cancelled, job_id}: outcome 'fired', 'queued', 'deduped', 'skipped' or 'repeated';
-- cancelled are running runs that were asked to end.
create function fire_trigger(p_fire_key text, p_firing jsonb) returns jsonb
language plpgsql as $$
declare
  v_key text := p_firing ->> 'trigger_key';
  v_overlap text := coalesce(p_firing ->> 'overlap', 'allow');
  v_state text := 'done';
  v_open boolean := false;
  v_cancelled bigint[] := '{}';
  v_made jsonb;
begin
  insert into trigger_firings (trigger_key, fire_key, state) values (v_key, p_fire_key, 'skipped')
  on conflict do nothing;
  if not found then
    return jsonb_build_object('trigger_key', v_key, 'outcome', 'repeated');
  end if;

  if p_firing ->> 'dedupe_key' is not null then
    insert into trigger_dedupe as d (trigger_key, dedupe_key, until)
    values (v_key, p_firing ->> 'dedupe_key',
            clock_timestamp() + (p_firing ->> 'dedupe_ms')::bigint * interval '1 ms')
    on conflict (trigger_key, dedupe_key) do update set until = excluded.until where d.until <= clock_timestamp();
    if not found then
      return jsonb_build_object('trigger_key', v_key, 'outcome', 'deduped');
    end if;
  end if;

  if v_overlap <> 'allow' then
    perform pg_advisory_xact_lock(hashtextextended('scanfarm trigger ' || v_key, 0));
    perform close_firings(v_key);
    v_open := exists (select from trigger_firings where trigger_key = v_key and state in ('open', 'waiting'));
    if v_open and v_overlap = 'skip' then
      return jsonb_build_object('trigger_key', v_key, 'outcome', 'skipped');
    elsif v_open and v_overlap = 'cancel-previous' then
      select coalesce(array_agg(c.id) filter (where c.status = 'running'), '{}') into v_cancelled
      from request_cancel(array(
        select r.id from trigger_firings f join runs r on r.job_no = f.job_no
        where f.trigger_key = v_key and f.state in ('open', 'waiting') order by r.id)) c;
    end if;
    v_state := case when v_open and v_overlap = 'queue' then 'waiting' else 'open' end;
  end if;

  v_made := submit_job((p_firing -> 'job') || jsonb_build_object('starts', v_state <> 'waiting'),
    array(select jsonb_array_elements_text(p_firing -> 'targets')),
    array(select jsonb_array_elements_text(p_firing -> 'workspaces')), (p_firing ->> 'uuid')::uuid, false, null);
  update trigger_firings set state = v_state, job_no = (v_made ->> 'job_no')::bigint
  where trigger_key = v_key and fire_key = p_fire_key;
  update schedules set last_run = now(), run_count = run_count + 1 where id = p_firing ->> 'schedule_id';
  return jsonb_build_object('trigger_key', v_key, 'cancelled', to_jsonb(v_cancelled),
                            'job_id', p_firing -> 'job' -> 'job_id',
                            'outcome', case v_state when 'waiting' then 'queued' else 'fired' end);
end $$;

-- All firings of one event, in an order of its own, so that two of them never wait for each other. One that the
-- database refuses does not stop the others; a conflict is left to the caller, who tries everything again.
create function fire_triggers(p_fire_key text, p_firings jsonb) returns jsonb
language plpgsql as $$
declare
  v_firing jsonb;
  v_fired jsonb := '[]';
begin
  for v_firing in select f from jsonb_array_elements(p_firings) f order by (f ->> 'trigger_key') collate "C" loop
    begin
      v_fired := v_fired || fire_trigger(p_fire_key, v_firing);
    exception
      when deadlock_detected or serialization_failure or lock_not_available then raise;
      when others then
        v_fired := v_fired || jsonb_build_object('trigger_key', v_firing ->> 'trigger_key', 'outcome', 'failed',
                                                 'error', sqlerrm);
    end;
  end loop;
  return v_fired;
end $$;
`

const EVENTS = `
create function insert_event(p_event jsonb, p_processed boolean, p_error text) returns bigint
language sql as $$
  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at, error)
  select e.topic, e.event_id, e.name, e.source, e.data_type, e.data, e.workspace, e.run_id, e.workflow_name,
         p_processed, case when p_processed then now() end, p_error
  from jsonb_to_record(p_event) as e(topic text, event_id text, name text, source text, data_type text, data text,
                                     workspace text, run_id text, workflow_name text)
  returning id
$$;

create function claim_events(p_limit int, p_lease_ms int) returns setof event_logs
language sql as $$
  update event_logs set claimed_until = clock_timestamp() + p_lease_ms * interval '1 ms'
  where id in (
    select id from event_logs
    where not processed and (claimed_until is null or claimed_until < clock_timestamp())
    order by id limit p_limit for update skip locked)
  returning *
$$;

create function with_errors(p_error text, p_fired jsonb) returns text
language sql immutable as $$
  select concat_ws('; ', nullif(p_error, ''),
    (select string_agg(format('%s: %s', f ->> 'trigger_key', f ->> 'error'), '; ')
     from jsonb_array_elements(p_fired) f where f ->> 'outcome' = 'failed'))
$$;

-- The event is dealt with, and what it triggers is made. Null: somebody else has done that already.
create function process_event(p_id bigint, p_error text, p_firings jsonb) returns jsonb
language plpgsql as $$
declare
  v_fired jsonb;
begin
  perform 1 from event_logs where id = p_id and not processed for update;
  if not found then
    return null;
  end if;
  v_fired := fire_triggers('event:' || p_id, p_firings);
  update event_logs
  set processed = true, processed_at = now(), claimed_until = null, error = with_errors(p_error, v_fired)
  where id = p_id;
  return v_fired;
end $$;

-- A new event together with what it triggers.
create function emit_event(p_event jsonb, p_error text, p_firings jsonb) returns jsonb
language plpgsql as $$
declare
  v_id bigint := insert_event(p_event, true, p_error);
  v_fired jsonb := fire_triggers('event:' || v_id, p_firings);
  v_error text := with_errors(p_error, v_fired);
begin
  if v_error <> p_error then
    update event_logs set error = v_error where id = v_id;
  end if;
  return v_fired;
end $$;
`

const CLOCKS = `
-- Up to when the firings of a cron trigger are decided; a trigger that is new or was changed begins at p_now.
create function start_clock(p_key text, p_hash text, p_now timestamptz) returns timestamptz
language plpgsql as $$
begin
  insert into trigger_clocks as c (trigger_key, spec_hash, handled_until) values (p_key, p_hash, p_now)
  on conflict (trigger_key) do update
  set spec_hash = excluded.spec_hash, handled_until = excluded.handled_until, seen_at = now()
  where c.spec_hash <> excluded.spec_hash;
  return (select handled_until from trigger_clocks where trigger_key = p_key);
end $$;

-- Tells the event log that a trigger of the scheduler fired, in the transaction that makes its job.
create function tell_scheduled(p_fire jsonb) returns jsonb
language plpgsql as $$
declare
  v_fired jsonb := case when p_fire -> 'firing' = 'null' then '[]'
                        else fire_triggers(p_fire ->> 'fire_key', jsonb_build_array(p_fire -> 'firing')) end;
  v_outcome text := v_fired -> 0 ->> 'outcome';
  v_wanted boolean := event_is_wanted('schedule.triggered');
begin
  if v_outcome is distinct from 'repeated' then
    perform insert_event(p_fire -> 'event', not v_wanted, with_errors(
      case when v_outcome = 'skipped' then 'skipped: the runs of the last firing have not ended'
           else p_fire ->> 'error' end, v_fired));
  end if;
  return v_fired;
end $$;

-- Decides the firings of a cron trigger from p_from up to p_until. Null: somebody else has.
create function fire_cron(p_key text, p_hash text, p_from timestamptz, p_until timestamptz, p_fires jsonb) returns jsonb
language plpgsql as $$
declare
  v_fire jsonb;
  v_fired jsonb := '[]';
begin
  update trigger_clocks set handled_until = p_until, seen_at = now()
  where trigger_key = p_key and spec_hash = p_hash and handled_until = p_from;
  if not found then
    return null;
  end if;
  for v_fire in select f from jsonb_array_elements(p_fires) f loop
    v_fired := v_fired || tell_scheduled(v_fire);
  end loop;
  return v_fired;
end $$;

-- A watch that is new or was changed takes the files that are there now for known. False: it knows its files already.
create function start_watch(p_key text, p_hash text, p_paths text[], p_marks text[]) returns boolean
language plpgsql as $$
begin
  insert into trigger_clocks as c (trigger_key, spec_hash, handled_until) values (p_key, p_hash, now())
  on conflict (trigger_key) do update set spec_hash = excluded.spec_hash, handled_until = now(), seen_at = now()
  where c.spec_hash <> excluded.spec_hash;
  if not found then
    return false;
  end if;
  delete from watched_files where trigger_key = p_key;
  insert into watched_files (trigger_key, path, mark)
  select p_key, path, mark from unnest(p_paths, p_marks) as f(path, mark);
  return true;
end $$;

-- A file that is new or changed fires its watch. Null: somebody else has seen it.
create function fire_watch(p_key text, p_path text, p_mark text, p_fire jsonb) returns jsonb
language plpgsql as $$
begin
  insert into watched_files as w (trigger_key, path, mark) values (p_key, p_path, p_mark)
  on conflict (trigger_key, path) do update set mark = excluded.mark where w.mark <> excluded.mark;
  if not found then
    return null;
  end if;
  return tell_scheduled(p_fire);
end $$;
`

const WAITING = `
-- Starts waiting firings whose predecessors have ended; returns how many.
create function start_waiting(p_limit int) returns int
language plpgsql as $$
declare
  v_key text;
  v_next trigger_firings;
  v_started int := 0;
begin
  for v_key in
    select distinct trigger_key from trigger_firings where state = 'waiting' order by trigger_key limit p_limit
  loop
    continue when not pg_try_advisory_xact_lock(hashtextextended('scanfarm trigger ' || v_key, 0));
    perform close_firings(v_key);
    continue when exists (select from trigger_firings where trigger_key = v_key and state = 'open');
    select * into v_next from trigger_firings where trigger_key = v_key and state = 'waiting'
    order by fired_at, fire_key limit 1 for update;
    continue when not found;
    perform start_run(id) from (
      select id from runs where job_no = v_next.job_no and status = 'pending' order by id) r;
    update trigger_firings set state = 'open' where trigger_key = v_key and fire_key = v_next.fire_key;
    v_started := v_started + 1;
  end loop;
  return v_started;
end $$;

-- What says nothing any more: old firings, dedupe windows that are over, topics nobody has named for a while.
create function prune_triggers(p_days int, p_topics_ms bigint) returns void
language sql as $$
  delete from trigger_firings
  where state in ('done', 'skipped') and fired_at < now() - greatest(p_days, 1) * interval '1 day';
  delete from trigger_dedupe where until < now();
  delete from trigger_topics where seen_at < now() - p_topics_ms * interval '1 ms';
$$;
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
