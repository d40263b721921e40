-- Assigns locked, queued runs to a worker and returns what the worker needs to execute them. The tally of an earlier
-- attempt is cleared. Params stay text: building a jsonb value from large ones takes time in the square of their
-- size, within one call that no timeout can interrupt. Runs of a cancelled job are left waiting: its cancel ends them.
create or replace function assign_runs(p_worker_id text, p_ids bigint[]) returns json
language plpgsql
-- planner: batch
as $$
declare
  v_floor bigint;
  v_cancelled bigint[] := array(
    select r.id from runs r cross join lateral (select cancel_requested_at from jobs where id = r.job_no offset 0) j
    where r.id = any(p_ids) and j.cancel_requested_at is not null);
  v_wanted boolean := event_is_wanted('run.started');
  v_scopes bigint := (select version from scopes_version);
begin
  if cardinality(v_cancelled) > 0 then
    p_ids := array(select id from unnest(p_ids) id where id <> all(v_cancelled));
  end if;
  select last_value into v_floor from event_logs_id_seq;
  update runs
  set status = 'running', attempt = attempt + 1, worker_id = p_worker_id, started_at = coalesce(started_at, now()),
      claimed_at = now(),
      event_floor = case event_floor when 0 then v_floor else event_floor end,
      total_steps = 0, completed_steps = 0, tally = null, error_message = '', updated_at = now()
  where id = any(p_ids) and status || '' = 'queued';

  insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                          processed, processed_at)
  select 'run.started', format('evt_%s_%s_start', replace(r.run_uuid::text, '-', ''), r.attempt), 'run.started',
         'executor', 'scan', run_event_data(r, j), r.workspace, r.run_uuid::text, r.workflow_name,
         not v_wanted, case when v_wanted then null else now() end
  from runs r
  cross join lateral (select * from jobs where id = r.job_no offset 0) j
  where r.id = any(p_ids) and r.batch is null
  order by r.id;

  return (
    select coalesce(json_agg(json_build_object(
      'runId', r.id, 'attempt', r.attempt, 'epoch', r.epoch, 'runUuid', r.run_uuid, 'jobId', j.job_id,
      'workflowName', r.workflow_name, 'workflowKind', j.workflow_kind, 'workflowHash', j.workflow_hash,
      'target', r.target, 'params', j.params, 'workspace', r.workspace, 'priority', j.priority, 'runMode', r.run_mode,
      'timeoutMs', j.timeout_minutes::bigint * 60000,
      'runner', case when j.runner_given then json_strip_nulls(json_build_object(
        'type', j.runner_type, 'dockerImage', nullif(j.docker_image, ''),
        'dockerNetwork', nullif(j.docker_network, ''), 'sshHost', nullif(j.ssh_host, ''))) end,
      'cancelRequested', r.cancel_requested_at is not null, 'eventEnvelope', j.event_envelope,
      'batch', case when r.batch is not null then json_build_object(
        'state', j.loop_state, 'first', r.batch[1], 'last', r.batch[2]) end,
      'resume', r.resume, 'resumes', j.resume, 'scopesVersion', v_scopes,
      'scopes', case when v_scopes > 0 then scopes_of_run(j.scope_no, r.workspace) else '{}' end)), '[]')
    from runs r cross join lateral (select * from jobs where id = r.job_no offset 0) j
    where r.id = any(p_ids));
end $$;
