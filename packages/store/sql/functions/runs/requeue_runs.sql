-- Moves running runs back to queued under a new epoch, which makes queue messages of the old epoch void. The runs
-- keep their slot, and their machine while it is ready. p_why becomes the error of their open steps, and is recorded with the attempt. The newest 100 attempts are kept.
create or replace function requeue_runs(p_ids bigint[], p_why text) returns bigint[]
language plpgsql
-- planner: batch
as $$
declare
  v_ids bigint[];
begin
  perform 1 from runs where id = any(p_ids) order by id for update;

  with moved as (
    update runs r
    set status = 'queued', epoch = epoch + 1, current_pid = 0,
        total_steps = 0, completed_steps = 0, updated_at = now(),
        past_attempts = case when jsonb_array_length(past_attempts) >= 100 then past_attempts - 0
                             else coalesce(past_attempts, '[]') end
          || (jsonb_build_object(
                'attempt', attempt, 'worker_id', worker_id, 'started_at', claimed_at, 'ended_at', now(), 'reason', p_why,
                'machine', (select name from cloud_instances i where i.id = r.instance_no))
              || coalesce((select jsonb_build_object('worker', w.name, 'hostname', w.hostname, 'pid', w.pid,
                                                     'version', w.version, 'heard_at', w.last_heartbeat)
                           from workers w where w.id = r.worker_id), '{}'))
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
  set epoch = excluded.epoch, ready = true, sent_at = null, delayed = false, instance_no = excluded.instance_no;
  perform notify_masters();
  if exists (select from runs where id = any(v_ids) and run_mode || '' = 'cloud') then
    perform mark_infras_of_runs_due(v_ids);
  end if;
  perform free_limits(v_ids);
  return v_ids;
end $$;
