import { sql, type Kysely } from 'kysely'

/** Repairs after the loss of workers, of the queue, or of a slot. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(REAP).execute(db)
  await sql.raw(RECOUNT).execute(db)
}

const REAP = `
-- Why no lease may be called over in this turn: 'gap', 'mass' or ''. A gap in the turns, or a database that has just
-- started, means that workers could not renew: they get one lease of time. So do several workers that expire at once
-- with over 30 % of the running runs: then the network is the likelier culprit, and it must stay so for one lease.
-- A single worker that expires is an ordinary loss, however much of a small farm it is.
create function reaper_held_back(p_lease interval) returns text
language plpgsql as $$
declare
  v_farm farm;
  v_running int;
  v_expiring int;
  v_workers int;
begin
  select * into v_farm from farm for update;
  if v_farm.reaper_turn_at is null or v_farm.reaper_turn_at < now() - p_lease then
    v_farm.reaper_hold_until := now() + p_lease;
  end if;
  update farm set reaper_turn_at = now(), reaper_hold_until = v_farm.reaper_hold_until;
  if v_farm.reaper_hold_until > now() or pg_postmaster_start_time() + p_lease > now() then
    return 'gap';
  end if;

  select count(*), count(w.id), count(distinct w.id) into v_running, v_expiring, v_workers
  from runs r left join workers w on w.id = r.worker_id and w.lost_at is null and w.lease_until < now()
  where r.status = 'running';
  if v_workers < 2 or v_expiring <= 0.3 * v_running then
    update farm set mass_expiry_since = null where mass_expiry_since is not null;
    return '';
  end if;
  update farm set mass_expiry_since = coalesce(mass_expiry_since, now()) returning * into v_farm;
  if v_farm.mass_expiry_since + p_lease > now() then
    return 'mass';
  end if;
  update farm set mass_expiry_since = null;
  return '';
end $$;

create function reap_runs(p_max_attempts int, p_lease_ms int, p_limit int) returns jsonb
language plpgsql as $$
declare
  v_held_back text;
  v_ids bigint[];
  v_ends jsonb;
  v_ended bigint[] := '{}';
  v_requeued bigint[];
begin
  if not pg_try_advisory_xact_lock(hashtext('scanfarm reaper')) then
    return '{"requeued": 0, "failed": 0, "cancelled": 0, "heldBack": ""}';
  end if;
  v_held_back := reaper_held_back(p_lease_ms * interval '1 ms');
  if v_held_back <> '' then
    return jsonb_build_object('requeued', 0, 'failed', 0, 'cancelled', 0, 'heldBack', v_held_back);
  end if;

  perform 1 from workers where lost_at is null and lease_until < now() order by id for update;
  update workers set lost_at = now() where lost_at is null and lease_until < now();
  select array_agg(id) into v_ids from (
    select r.id from runs r left join workers w on w.id = r.worker_id
    where r.status = 'running' and (w.id is null or w.lost_at is not null)
    order by r.id limit p_limit for update of r
  ) lost;

  update runs set crashes = crashes + 1
  where id = any(v_ids) and cancel_requested_at is null and crashes + 1 >= p_max_attempts;
  select jsonb_agg(jsonb_build_object(
    'id', id,
    'status', case when cancel_requested_at is null then 'failed' else 'cancelled' end,
    'error', case when cancel_requested_at is null
      then format('given up: the worker was lost while running this, %s times', crashes)
      else 'cancelled on request; the worker was lost' end))
  into v_ends
  from runs where id = any(v_ids) and (cancel_requested_at is not null or crashes >= p_max_attempts);
  if v_ends is not null then
    v_ended := end_runs(v_ends);
  end if;
  v_requeued := requeue_runs(v_ids, 1);
  return jsonb_build_object(
    'requeued', cardinality(v_requeued),
    'failed', (select count(*) from runs where id = any(v_ended) and status = 'failed'),
    'cancelled', (select count(*) from runs where id = any(v_ended) and status = 'cancelled'),
    'heldBack', '');
end $$;
`

const RECOUNT = `
-- Makes slots agree with runs: slots of ended runs are dropped, ready rows without a slot get one, free slots go to
-- waiting runs, and what is ready beyond the concurrency waits again unless it was sent. Returns the repairs made.
create function recount_slots(p_limit int) returns int
language plpgsql as $$
declare
  v_job_no bigint;
  v_free int;
  v_surplus bigint[];
  v_rows int;
  v_repairs int := 0;
begin
  delete from slots s where not exists (
    select 1 from runs r where r.id = s.run_id and r.status in ('queued', 'running'));
  get diagnostics v_rows = row_count;
  v_repairs := v_repairs + v_rows;

  insert into slots (run_id, job_no)
  select o.run_id, o.job_no from outbox o join jobs j on j.id = o.job_no
  where o.ready and j.concurrency is not null and not exists (select 1 from slots s where s.run_id = o.run_id)
  limit p_limit
  on conflict do nothing;
  get diagnostics v_rows = row_count;
  v_repairs := v_repairs + v_rows;

  for v_job_no in
    with recursive waiting as (
      (select job_no from outbox where not ready order by job_no limit 1)
      union all
      select (select o.job_no from outbox o where not o.ready and o.job_no > w.job_no order by o.job_no limit 1)
      from waiting w where w.job_no is not null
    )
    select w.job_no from waiting w join jobs j on j.id = w.job_no
    where coalesce(j.concurrency, 0) <> (select count(*) from slots s where s.job_no = w.job_no)
    order by w.job_no limit p_limit
  loop
    v_free := free_slots(v_job_no);
    v_repairs := v_repairs + ready_next(v_job_no, coalesce(v_free, 2147483647));
  end loop;

  for v_job_no, v_free in
    select s.job_no, j.concurrency - count(*) from slots s join jobs j on j.id = s.job_no
    group by s.job_no, j.concurrency having count(*) > j.concurrency order by s.job_no limit p_limit
  loop
    perform 1 from jobs where id = v_job_no for no key update;
    select array_agg(run_id) into v_surplus from (
      select run_id from outbox where job_no = v_job_no and ready and sent_at is null
      order by run_id desc limit -v_free for update skip locked
    ) surplus;
    update outbox set ready = false where run_id = any(v_surplus);
    delete from slots where run_id = any(v_surplus);
    v_repairs := v_repairs + coalesce(cardinality(v_surplus), 0);
  end loop;
  if v_repairs > 0 then
    perform wake_masters();
  end if;
  return v_repairs;
end $$;
`
