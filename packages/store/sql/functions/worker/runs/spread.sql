-- The batches of a loop of a run of the worker, in the order of their items: {runUuid, attempt, status, error, first,
-- last}. Creates them at the first call with this state; those of another state are cancelled, and without a state all.
-- An attempt that follows thereby finds the batches of the one before. Null: the worker does not own the run.
create or replace function worker.spread(p_secret text, p_run_id bigint, p_attempt int, p_key text, p_state text,
                                         p_count int, p_size int, p_workers int, p_step uuid) returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
declare
  v_job jobs;
  v_run runs;
  v_no bigint;
  v_workers int;
  v_ids bigint[];
begin
  if lock_owned(p_secret, jsonb_build_array(jsonb_build_object('runId', p_run_id, 'attempt', p_attempt))) is null then
    return null;
  end if;
  select id into v_no from jobs where parent_run = p_run_id and loop_key = p_key and loop_state = p_state
    and cancel_requested_at is null;
  perform end_batches(array[p_run_id], p_key, v_no);
  if v_no is null and p_state <> '' then
    select * into v_run from runs where id = p_run_id;
    select * into v_job from jobs where id = v_run.job_no;
    v_workers := coalesce(p_workers, farm_slots());
    insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
      runner_given, docker_image, docker_network, ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type,
      trigger_name, schedule_id, event_envelope, starts, target_count, scope_no, submitted_by, resume, parent_run,
      loop_key, loop_state, loop_step)
    values (substr(replace(gen_random_uuid()::text, '-', ''), 1, 16), v_job.workflow_name, v_job.workflow_kind,
      v_job.workflow_hash, v_job.params, v_job.priority, v_job.run_mode, v_job.runner_type, v_job.runner_given,
      v_job.docker_image, v_job.docker_network, v_job.ssh_host, v_job.timeout_minutes, p_workers,
      v_job.requirement_class, v_job.trigger_type, v_job.trigger_name, '', v_job.event_envelope, true,
      (select count(*) from batch_sizes(p_count, p_size, v_workers, 0)), v_job.scope_no, v_job.submitted_by, 'none',
      p_run_id, p_key, p_state, p_step)
    returning * into v_job;
    v_no := v_job.id;
    with made as (
      insert into runs (run_uuid, job_no, workflow_name, run_mode, status, target, workspace, batch)
      select gen_random_uuid(), v_no, v_job.workflow_name, v_job.run_mode, 'queued', v_run.target, v_run.workspace,
             array[b.first, b.last]
      from batch_sizes(p_count, p_size, v_workers, 0) b order by b.first
      returning id
    )
    select array_agg(id order by id) into v_ids from made;
    perform fill_outbox(v_job, v_ids, p_workers, 0);
    perform notify_masters();
  end if;
  update jobs set loop_step = p_step where id = v_no and loop_step <> p_step;
  return (select coalesce(jsonb_agg(jsonb_build_object(
            'runUuid', run_uuid, 'attempt', attempt, 'status', status, 'error', error_message,
            'first', batch[1], 'last', batch[2]) order by id), '[]')
          from runs where job_no = v_no);
end $$;
