import { sql, type Kysely } from 'kysely'

/**
 * Cloud mode: infrastructures, their machines, and the runs that are bound to them. Locks are taken in this order: jobs,
 * the budget (advisory), machines, runs by id, outbox, slots, infrastructures. Whoever holds the row of an
 * infrastructure waits for nothing else, so that anything may tell it at the end that something has changed.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
  await sql.raw(VOCABULARY).execute(db)
  await sql.raw(REQUEST).execute(db)
  await sql.raw(HOLD).execute(db)
  await sql.raw(MOVE).execute(db)
}

const TABLES = `
create table cloud_infras (
  id bigint generated always as identity primary key,
  infra_id text collate "C" not null unique check (infra_id ~ '^[0-9a-f]{16}$'),
  status text collate "C" not null default 'requested'
    check (status in ('requested', 'provisioning', 'ready', 'draining', 'destroyed', 'failed')),
  provider text collate "C" not null,
  region text not null,
  instance_type text not null,
  use_spot boolean not null,
  auto_destroy boolean not null,
  instances int not null check (instances > 0),
  tools text[] not null,
  hours numeric not null check (hours > 0),
  -- US dollars an hour for one machine; null: not known.
  hourly_price numeric,
  message text not null default '',
  ssh_user text not null default '',
  private_key text not null default '',
  public_key text not null default '',
  -- Runs bound to it so far: the next one goes to the machine after the last one's.
  bound bigint not null default 0,
  -- What becomes of runs bound to it that have not ended, once it takes no more: null while it does.
  ends_runs_as text check (ends_runs_as in ('failed', 'cancelled')),
  end_reason text not null default '',
  -- Who looks after it now, and until when at most.
  owner text not null default '',
  owner_until timestamptz,
  due_at timestamptz not null default now(),
  -- Something has changed since its owner read it last.
  poked boolean not null default false,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  ready_at timestamptz,
  destroyed_at timestamptz,
  -- It has ended, none of its machines is left and no run waits for it: nobody has to look at it any more.
  closed_at timestamptz,
  constraint cloud_infras_keys check (closed_at is null or private_key = '')
) with (fillfactor = 70);
create index cloud_infras_due on cloud_infras (due_at) where closed_at is null;
create index cloud_infras_status on cloud_infras (status, id);

create table cloud_instances (
  id bigint generated always as identity primary key,
  infra_no bigint not null references cloud_infras,
  name text collate "C" not null unique,
  status text collate "C" not null default 'requested'
    check (status in ('requested', 'booting', 'ready', 'destroying', 'destroyed', 'failed')),
  resource_id text not null default '',
  address text not null default '',
  port int not null default 22 check (port between 1 and 65535),
  message text not null default '',
  -- Made for it by the farm and forgotten when it is ready.
  host_key_private text not null default '',
  host_key text not null default '',
  -- When the provider was last asked to make it.
  asked_at timestamptz,
  created_at timestamptz not null default now(),
  ready_at timestamptz,
  destroyed_at timestamptz,
  constraint cloud_instances_host_key
    check (host_key_private = '' or status in ('requested', 'booting', 'destroying'))
);
create index cloud_instances_infra on cloud_instances (infra_no, id);
create index cloud_instances_ready on cloud_instances (id) where status = 'ready';
create index cloud_instances_open on cloud_instances (infra_no) where status not in ('destroyed', 'failed');

-- When somebody last looked for machines that nobody wants.
create table cloud_reaps (
  provider text collate "C" primary key,
  reaped_at timestamptz not null
);

alter table jobs add column infra_no bigint references cloud_infras;
-- The fields of the request that named the infrastructure, for copies of its runs.
alter table jobs add column cloud jsonb;
create index jobs_infra on jobs (infra_no) where infra_no is not null;

alter table runs add column instance_no bigint;
-- Times that a machine was lost under it.
alter table runs add column moves int not null default 0;
create index runs_on_instance on runs (instance_no) where status = 'running' and instance_no is not null;
create index runs_cloud_open on runs (job_no, id)
  where run_mode = 'cloud' and status in ('pending', 'queued', 'running');

alter table outbox drop constraint outbox_run_mode_check;
alter table outbox add constraint outbox_run_mode_check check (run_mode in ('local', 'distributed', 'cloud'));
alter table outbox add column instance_no bigint;
create index outbox_cloud on outbox (instance_no, rank, run_id) where ready and run_mode = 'cloud';
create index outbox_held on outbox (instance_no, job_no, run_id) where not ready and run_mode = 'cloud';
create index outbox_unbound on outbox (job_no, run_id) where run_mode = 'cloud' and instance_no is null;
`

const VOCABULARY = `
-- Where a status may be reached from; a test compares both with the tables of moves in contracts.
create function infra_sources(p_to text) returns text[]
language sql immutable parallel safe as $$
  select case p_to
    when 'provisioning' then array['requested']
    when 'ready' then array['provisioning']
    when 'draining' then array['requested', 'provisioning', 'ready']
    when 'destroyed' then array['draining']
    when 'failed' then array['requested', 'provisioning', 'ready']
    else array[]::text[]
  end
$$;

create function instance_sources(p_to text) returns text[]
language sql immutable parallel safe as $$
  select case p_to
    when 'booting' then array['requested']
    when 'ready' then array['booting']
    when 'destroying' then array['requested', 'booting', 'ready']
    when 'destroyed' then array['destroying']
    when 'failed' then array['requested', 'destroying']
    else array[]::text[]
  end
$$;

-- Somebody shall look at it now; the present owner when it lets go.
create function poke_infra(p_infra_no bigint) returns void
language plpgsql as $$
begin
  update cloud_infras set poked = true, due_at = least(due_at, now())
  where id = p_infra_no and closed_at is null and not (poked and due_at <= now());
  if found then
    perform wake_masters();
  end if;
end $$;

-- Whether some job is bound to it, and no run of any such job can run any more.
create function infra_work_done(p_infra_no bigint) returns boolean
language sql stable as $$
  select exists (select from jobs where infra_no = p_infra_no)
     and not exists (select from jobs j join job_targets t on t.job_no = j.id where j.infra_no = p_infra_no)
     and not exists (
       select from jobs j
       where j.infra_no = p_infra_no and exists (
         select from runs r
         where r.job_no = j.id and r.run_mode = 'cloud' and r.status in ('pending', 'queued', 'running')))
$$;
`

const REQUEST = `
-- What speaks against an infrastructure of p_infra (columns of cloud_infras) under p_budget, with the figures; null:
-- nothing. Counts machines that are not known to be gone, with all the hours that they may live.
create function budget_problems(p_infra cloud_infras, p_budget jsonb) returns text
language plpgsql as $$
declare
  v_hours numeric := p_infra.instances * p_infra.hours;
  v_cost numeric := p_infra.instances * p_infra.hours * p_infra.hourly_price;
  v_machines int;
  v_all_hours numeric;
  v_all_cost numeric;
  v_problems text[] := '{}';
begin
  select count(*), coalesce(sum(f.hours), 0), coalesce(sum(f.hours * coalesce(f.hourly_price, 0)), 0)
  into v_machines, v_all_hours, v_all_cost
  from cloud_instances i join cloud_infras f on f.id = i.infra_no
  where i.status not in ('destroyed', 'failed');

  if p_infra.instances > (p_budget ->> 'instances')::int then
    v_problems := v_problems || format('%s machines were asked for, %s is the most for one infrastructure',
      p_infra.instances, p_budget ->> 'instances');
  end if;
  if v_machines + p_infra.instances > (p_budget ->> 'totalInstances')::int then
    v_problems := v_problems || format('%s machines were asked for beside the %s that there are, %s is the most in all',
      p_infra.instances, v_machines, p_budget ->> 'totalInstances');
  end if;
  if p_infra.hours > (p_budget ->> 'hours')::numeric then
    v_problems := v_problems || format('%s hours were asked for, %s is the most for one infrastructure',
      trim_scale(p_infra.hours), trim_scale((p_budget ->> 'hours')::numeric));
  end if;
  if v_all_hours + v_hours > (p_budget ->> 'totalInstanceHours')::numeric then
    v_problems := v_problems || format(
      '%s machine hours were asked for beside the %s that are given away, %s is the most in all',
      trim_scale(v_hours), trim_scale(v_all_hours), trim_scale((p_budget ->> 'totalInstanceHours')::numeric));
  end if;
  if v_cost is null and coalesce(p_budget ->> 'cost', p_budget ->> 'totalCost') is not null then
    v_problems := v_problems || format(
      'costs are limited and the price of %s at %s in %s is not known: set it in the settings of the provider',
      p_infra.instance_type, p_infra.provider, p_infra.region);
  end if;
  if v_cost > (p_budget ->> 'cost')::numeric then
    v_problems := v_problems || format(
      'the estimated cost is %s US dollars (%s machines, %s hours, %s an hour), %s is the most for one infrastructure',
      round(v_cost, 2), p_infra.instances, trim_scale(p_infra.hours), trim_scale(p_infra.hourly_price),
      round((p_budget ->> 'cost')::numeric, 2));
  end if;
  if v_all_cost + v_cost > (p_budget ->> 'totalCost')::numeric then
    v_problems := v_problems || format(
      'the estimated cost is %s US dollars beside the %s of the machines that there are, %s is the most in all',
      round(v_cost, 2), round(v_all_cost, 2), round((p_budget ->> 'totalCost')::numeric, 2));
  end if;
  return nullif(array_to_string(v_problems, '; '), '');
end $$;

-- A new infrastructure and its machines, if p_budget allows them: one request after the other over the whole farm.
-- Refuses with the SQLSTATE SF001.
create function make_infra(p_infra jsonb, p_budget jsonb) returns bigint
language plpgsql as $$
declare
  v_infra cloud_infras := jsonb_populate_record(null::cloud_infras, p_infra);
  v_problems text;
  v_no bigint;
begin
  perform pg_advisory_xact_lock(hashtext('scanfarm cloud budget'));
  v_problems := budget_problems(v_infra, p_budget);
  if v_problems is not null then
    raise exception using errcode = 'SF001', message = v_problems;
  end if;
  insert into cloud_infras (infra_id, provider, region, instance_type, use_spot, auto_destroy, instances, tools, hours,
                            hourly_price, expires_at)
  values (v_infra.infra_id, v_infra.provider, v_infra.region, v_infra.instance_type, v_infra.use_spot,
          v_infra.auto_destroy, v_infra.instances, v_infra.tools, v_infra.hours, v_infra.hourly_price,
          now() + v_infra.hours * interval '1 hour')
  returning id into v_no;
  insert into cloud_instances (infra_no, name)
  select v_no, format('scanfarm-%s-%s', v_infra.infra_id, n) from generate_series(1, v_infra.instances) n;
  perform wake_masters();
  return v_no;
end $$;

-- The infrastructure that p_cloud names: {infra, budget} makes one, {reuse} is one that is there. SF002: unknown.
create function infra_for(p_cloud jsonb) returns bigint
language plpgsql as $$
declare
  v_no bigint;
begin
  if p_cloud ->> 'reuse' is null then
    return make_infra(p_cloud -> 'infra', p_cloud -> 'budget');
  end if;
  select id into v_no from cloud_infras where infra_id = p_cloud ->> 'reuse';
  if v_no is null then
    raise exception using errcode = 'SF002', message = format('there is no infrastructure %s', p_cloud ->> 'reuse');
  end if;
  return v_no;
end $$;

-- Holds an infrastructure, to the end of the transaction, as one that takes runs; p_auto_destroy: which from now on goes
-- with the last of them. Refuses with SF003 when it takes none.
create function demand_infra(p_infra_no bigint, p_auto_destroy boolean) returns void
language plpgsql as $$
declare
  v_infra cloud_infras;
begin
  if p_auto_destroy then
    select * into v_infra from cloud_infras where id = p_infra_no for no key update;
  else
    select * into v_infra from cloud_infras where id = p_infra_no for share;
  end if;
  if v_infra.status not in ('requested', 'provisioning', 'ready') then
    raise exception using errcode = 'SF003',
      message = format('the infrastructure %s is %s and takes no more runs', v_infra.infra_id, v_infra.status);
  end if;
  if p_auto_destroy then
    update cloud_infras set auto_destroy = true where id = p_infra_no and not auto_destroy;
  end if;
end $$;
`

const HOLD = `
-- One that is due and nobody's becomes p_owner's; its number, or null.
create function take_infra(p_owner text, p_hold_ms int) returns bigint
language sql as $$
  update cloud_infras set owner = p_owner, owner_until = clock_timestamp() + p_hold_ms * interval '1 ms', poked = false
  where id = (
    select id from cloud_infras
    where closed_at is null and due_at <= clock_timestamp()
      and (owner_until is null or owner_until <= clock_timestamp())
    order by due_at, id limit 1 for update skip locked)
  returning id
$$;

create function hold_infra(p_infra_no bigint, p_owner text, p_hold_ms int) returns boolean
language plpgsql as $$
begin
  update cloud_infras set owner_until = clock_timestamp() + p_hold_ms * interval '1 ms', poked = false
  where id = p_infra_no and owner = p_owner and owner_until > clock_timestamp() and closed_at is null;
  return found;
end $$;

create function release_infra(p_infra_no bigint, p_owner text, p_after_ms int) returns void
language plpgsql as $$
begin
  update cloud_infras
  set owner = '', owner_until = null,
      due_at = case when poked then now() else now() + p_after_ms * interval '1 ms' end
  where id = p_infra_no and owner = p_owner;
  -- Whoever was told of the change found it taken.
  perform wake_masters() from cloud_infras where id = p_infra_no and poked;
end $$;

create function asking_provider(p_instance_no bigint, p_owner text) returns boolean
language plpgsql as $$
begin
  update cloud_instances i set asked_at = clock_timestamp()
  from cloud_infras f
  where i.id = p_instance_no and f.id = i.infra_no and i.status = 'requested' and f.status = 'provisioning'
    and f.owner = p_owner and f.owner_until > clock_timestamp();
  return found;
end $$;

create function turn_of_reaper(p_provider text, p_every_ms int) returns boolean
language plpgsql as $$
begin
  insert into cloud_reaps as r (provider, reaped_at) values (p_provider, clock_timestamp())
  on conflict (provider) do update set reaped_at = excluded.reaped_at
  where r.reaped_at <= excluded.reaped_at - p_every_ms * interval '1 ms';
  return found;
end $$;
`

const MOVE = `
-- Forgets the keys of an infrastructure that has ended, when no machine is left and no run waits for it.
create function close_infra(p_infra_no bigint) returns boolean
language plpgsql as $$
begin
  update cloud_infras f
  set closed_at = now(), destroyed_at = coalesce(destroyed_at, now()), private_key = '', owner = '', owner_until = null
  where id = p_infra_no and closed_at is null and status in ('destroyed', 'failed')
    and not exists (select from cloud_instances i
                    where i.infra_no = f.id and i.status not in ('destroyed', 'failed'))
    and not exists (select from jobs j where j.infra_no = f.id and exists (
          select from runs r
          where r.job_no = j.id and r.run_mode = 'cloud' and r.status in ('queued', 'running')));
  return found;
end $$;

-- Whether it moved. p_ends_as: what becomes of its runs when it takes no more. With p_when_done only if no run of its
-- jobs can run any more: a job that was just bound to it keeps it.
create function move_infra(p_infra_no bigint, p_to text, p_message text, p_ends_as text, p_when_done boolean)
returns boolean
language plpgsql as $$
declare
  v_infra cloud_infras;
begin
  select * into v_infra from cloud_infras where id = p_infra_no for no key update;
  if not found or v_infra.status <> all(infra_sources(p_to)) or (p_when_done and not infra_work_done(p_infra_no))
     or (p_to = 'destroyed' and exists (select from cloud_instances
                                        where infra_no = p_infra_no and status not in ('destroyed', 'failed')))
  then
    return false;
  end if;
  update cloud_infras
  set status = p_to, message = p_message, poked = true, due_at = least(due_at, now()),
      ready_at = case p_to when 'ready' then now() else ready_at end,
      destroyed_at = case p_to when 'destroyed' then now() else destroyed_at end,
      ends_runs_as = case when p_to in ('draining', 'failed') then coalesce(ends_runs_as, p_ends_as) else ends_runs_as end,
      end_reason = case when p_to in ('draining', 'failed') and ends_runs_as is null then p_message else end_reason end
  where id = p_infra_no;
  perform close_infra(p_infra_no);
  perform wake_masters();
  return true;
end $$;

-- Moves a machine and returns it as it was before; null: it may not move there. p_facts: {message, resource_id, address,
-- port}, each only if it is known.
create function set_instance(p_instance_no bigint, p_to text, p_facts jsonb) returns cloud_instances
language plpgsql as $$
declare
  v_instance cloud_instances;
begin
  select * into v_instance from cloud_instances where id = p_instance_no for no key update;
  if not found or v_instance.status <> all(instance_sources(p_to)) then
    return null;
  end if;
  update cloud_instances
  set status = p_to,
      message = coalesce(p_facts ->> 'message', message),
      resource_id = coalesce(p_facts ->> 'resource_id', resource_id),
      address = coalesce(p_facts ->> 'address', address),
      port = coalesce((p_facts ->> 'port')::int, port),
      host_key_private = case when p_to in ('booting', 'destroying') then host_key_private else '' end,
      ready_at = case p_to when 'ready' then now() else ready_at end,
      destroyed_at = case when p_to in ('destroyed', 'failed') then now() else destroyed_at end
  where id = p_instance_no;
  return v_instance;
end $$;

create function move_instance(p_instance_no bigint, p_to text, p_facts jsonb) returns boolean
language plpgsql as $$
declare
  v_before cloud_instances := set_instance(p_instance_no, p_to, p_facts);
begin
  if v_before.status = 'ready' then
    perform leave_instance(p_instance_no, p_facts ->> 'message');
  end if;
  if p_to in ('destroyed', 'failed') then
    perform close_infra(v_before.infra_no);
  end if;
  return v_before.id is not null;
end $$;

-- A machine is gone though nobody destroyed it. Runs that are still on it move even when that was known. Returns how
-- many moved.
create function lose_instance(p_instance_no bigint, p_message text) returns int
language plpgsql as $$
declare
  v_moved int;
begin
  perform set_instance(p_instance_no, 'destroying', jsonb_build_object('message', p_message));
  v_moved := leave_instance(p_instance_no, p_message);
  perform poke_infra(infra_no) from cloud_instances where id = p_instance_no;
  return v_moved;
end $$;
`
