-- Takes back the runs of lost workers. A run is given up after p_max_attempts lost workers, or after
-- p_quarantine_after if every other run that was lost with it has lost fewer workers: that run alone is then the
-- likely cause. This is the only place that counts the workers which a run has lost. A run that waits for batches of its
-- loop has lost none; a batch of several items is split instead, and its parts have lost one.
create or replace function reap_runs(p_max_attempts int, p_quarantine_after int, p_lease_ms int, p_limit int)
returns jsonb
language plpgsql as $$
declare
  v_held_back text;
  v_ids bigint[];
  v_waiting bigint[];
  v_alone bigint[];
  v_ends jsonb;
  v_ended bigint[] := '{}';
  v_requeued bigint[];
begin
  if not try_lock('reaper') then
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

  v_waiting := array(
    select j.parent_run from jobs j join runs b on b.job_no = j.id
    where j.parent_run = any(v_ids) and b.status in ('pending', 'queued', 'running'));
  v_alone := array(
    select r.id from runs r
    where r.id = any(v_ids) and r.id <> all(v_waiting)
      and case when batch[1] < batch[2] then 1 else crashes + 1 end >= p_quarantine_after and not exists (
      select from runs o
      where o.worker_id = r.worker_id and o.status = 'running' and o.id <> r.id
        and o.crashes >= r.crashes));
  update runs r
  set crashes = case when batch[1] < batch[2] then 1 else crashes + 1 end,
      lost_workers = case when batch[1] < batch[2] then '{}' else lost_workers end || coalesce(
        (select format('%s on %s, process %s, last heard of at %s', w.name, w.hostname, w.pid,
                       to_char(w.last_heartbeat at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'))
         from workers w where w.id = r.worker_id), r.worker_id)
  where id = any(v_ids) and id <> all(v_waiting) and cancel_requested_at is null;
  select jsonb_agg(jsonb_build_object(
    'id', id,
    'status', case when cancel_requested_at is null then 'failed' else 'cancelled' end,
    'error', case when cancel_requested_at is null
      then format('quarantined after %s lost %s: %s', crashes, case crashes when 1 then 'worker' else 'workers' end,
                  array_to_string(lost_workers, '; '))
      else 'cancelled on request; the worker was lost' end))
  into v_ends
  from runs
  where id = any(v_ids)
    and (cancel_requested_at is not null or id = any(v_alone)
         or crashes >= p_max_attempts and id <> all(v_waiting));
  if v_ends is not null then
    v_ended := end_runs(v_ends);
  end if;
  v_requeued := requeue_runs(v_ids, 'the worker was lost');
  perform split_batches(v_requeued);
  return jsonb_build_object(
    'requeued', cardinality(v_requeued),
    'failed', (select count(*) from runs where id = any(v_ended) and status = 'failed'),
    'cancelled', (select count(*) from runs where id = any(v_ended) and status = 'cancelled'),
    'heldBack', '');
end $$;
