import { sql, type Kysely } from 'kysely'

/**
 * Taking runs off their machines follows the lock order of cloud mode (see 0014): runs by id, over all machines of the
 * call together, then the outbox.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(LEAVE).execute(db)
  await sql.raw(BIND).execute(db)
}

const BY_WALK = `set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off`

/** A run under which machines were lost more often than this is given up: it may be what kills them. */
const MOST_MOVES = 5

const LEAVE = `
drop function leave_instance(bigint, text);

-- Takes the runs off machines: running ones go back to queued, waiting ones are bound anew. Returns how many ran.
create function leave_instances(p_instance_nos bigint[], p_message text) returns int
language plpgsql ${BY_WALK} as $$
declare
  v_ids bigint[];
  v_why text := 'the machine was lost' || coalesce(': ' || nullif(p_message, ''), '');
  v_end_reason text := (
    select nullif(f.end_reason, '') from cloud_instances i join cloud_infras f on f.id = i.infra_no
    where i.id = any(p_instance_nos) limit 1);
begin
  v_ids := array(
    select id from runs where instance_no = any(p_instance_nos) and status = 'running'
    union select run_id from outbox where run_mode = 'cloud' and ready and instance_no = any(p_instance_nos)
    union select run_id from outbox where run_mode = 'cloud' and not ready and instance_no = any(p_instance_nos));
  perform 1 from runs where id = any(v_ids) order by id for update;

  update runs set instance_no = null
  where id = any(v_ids) and instance_no = any(p_instance_nos) and status || '' = 'queued';
  update outbox set instance_no = null where run_id = any(v_ids) and instance_no = any(p_instance_nos);

  with moved as (
    update runs set moves = moves + 1
    where id = any(v_ids) and instance_no = any(p_instance_nos) and status || '' = 'running' returning id
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
revoke all on function leave_instances(bigint[], text) from public;

create or replace function move_instance(p_instance_no bigint, p_to text, p_facts jsonb) returns boolean
language plpgsql as $$
declare
  v_before cloud_instances := set_instance(p_instance_no, p_to, p_facts);
begin
  if v_before.status = 'ready' then
    perform leave_instances(array[p_instance_no], p_facts ->> 'message');
  end if;
  if p_to in ('destroyed', 'failed') then
    perform close_infra(v_before.infra_no);
  end if;
  return v_before.id is not null;
end $$;

-- Marks a machine as lost that was not destroyed on request. Runs that are still on it move, also when the loss was
-- known before. Returns how many moved.
create or replace function lose_instance(p_instance_no bigint, p_message text) returns int
language plpgsql as $$
declare
  v_moved int;
begin
  perform set_instance(p_instance_no, 'destroying', jsonb_build_object('message', p_message));
  v_moved := leave_instances(array[p_instance_no], p_message);
  perform poke_infra(infra_no) from cloud_instances where id = p_instance_no;
  return v_moved;
end $$;
`

const BIND = `
-- Binds waiting runs of a ready infrastructure to its ready machines, one after the other; up to p_limit. Runs whose row
-- somebody else has are left for the next time.
create or replace function bind_runs(p_infra_no bigint, p_limit int) returns int
language plpgsql ${BY_WALK} as $$
declare
  v_machines bigint[];
  v_left bigint[];
  v_bound bigint;
  v_ids bigint[];
begin
  perform pg_advisory_xact_lock(hashtextextended('scanfarm cloud binding', p_infra_no));
  select bound into v_bound from cloud_infras where id = p_infra_no and status = 'ready';
  if not found then
    return 0;
  end if;
  v_machines := array(
    select id from cloud_instances where infra_no = p_infra_no and status = 'ready' order by id for share);
  -- A run may have been handed back while its machine was being lost.
  v_left := array(
    select i.id from cloud_instances i
    where i.infra_no = p_infra_no and i.status <> 'ready'
      and exists (select from outbox o where o.run_mode = 'cloud' and o.instance_no = i.id));
  if cardinality(v_left) > 0 then
    perform leave_instances(v_left, null);
  end if;
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
