-- Stores one job with its runs. p_job holds the columns of jobs, the JSON text of the workflow and, for a cloud job,
-- cloud_infra ({infra, budget} or {reuse}), the refusals of the request, and the targets that mode delta left out
-- (left_out_items); with these there may be nothing to run. If an answer for the key of p_idempotency ({key,
-- request_hash, status, body}) is stored already, that answer is returned and nothing is created. With p_stored the
-- targets are stored, and expand_chunk creates their runs later; a caller without targets stores them itself and then
-- calls join_infra for a cloud job. Up to p_send runs are marked as sent (fill_outbox); their ids are in the answer, and
-- if there are no others, no master is notified.
create or replace function submit_job(p_job jsonb, p_targets text[], p_workspaces text[], p_uuid uuid, p_stored boolean,
                           p_idempotency jsonb, p_send int default 0) returns jsonb
language plpgsql as $$
declare
  v_job jobs;
  v_kept idempotency_keys;
  v_sent bigint[] := '{}';
  v_chunk constant int := 2000;
  v_cloud jsonb := nullif(p_job -> 'cloud_infra', 'null');
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

  perform precheck_infra(v_cloud) where v_cloud is not null;
  insert into pinned_workflows (hash, json) values (p_job ->> 'workflow_hash', p_job ->> 'workflow_json')
  on conflict do nothing;
  insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, docker_network, ssh_host, timeout_minutes, concurrency, requirement_class, trigger_type,
      trigger_name,
    schedule_id, event_envelope, starts, target_count, cloud, scope_no, refused, submitted_by, delta, left_out, resume)
  select job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
    runner_given, docker_image, coalesce(docker_network, ''), ssh_host, timeout_minutes, concurrency, requirement_class,
      trigger_type, trigger_name,
    schedule_id, event_envelope, starts, target_count, cloud, scope_no, coalesce(refused, 0),
    coalesce((select s.owner from shares s where s.owner = 'workspace:' || p_workspaces[1]), submitted_by, ''),
    delta, coalesce(left_out, 0), resume
  from jsonb_populate_record(null::jobs, p_job)
  returning * into v_job;
  if p_stored then
    insert into job_targets (job_no, chunk, targets, workspaces)
    select v_job.id, n, p_targets[n * v_chunk + 1 : (n + 1) * v_chunk],
           p_workspaces[n * v_chunk + 1 : (n + 1) * v_chunk]
    from generate_series(0, (cardinality(p_targets) + v_chunk - 1) / v_chunk - 1) n;
  elsif cardinality(p_targets) > 0 then
    v_sent := insert_runs(v_job, p_targets, p_workspaces, p_uuid, p_send);
  end if;
  perform record_refusals(v_job.id, p_job -> 'refusals') where jsonb_array_length(p_job -> 'refusals') > 0;
  insert into refusals (job_no, place, target, reason)
  select v_job.id, 'delta', i.target, i.reason
  from jsonb_to_recordset(coalesce(nullif(p_job -> 'left_out_items', 'null'), '[]')) as i(target text, reason text);
  perform join_infra(v_job.id, v_cloud) where v_cloud is not null and cardinality(p_targets) > 0;
  if p_stored or cardinality(v_sent) < cardinality(p_targets) then
    perform notify_masters();
  end if;
  return share_of_job(v_job) || jsonb_build_object('sent', v_sent);
end $$;
