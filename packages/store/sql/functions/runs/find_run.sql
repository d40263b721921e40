-- One run with what it takes from its job, by number or UUID; null: there is none. A function keeps its plan for the
-- connection, also behind a pooler, and one JSON value is cheaper to read than its columns.
create or replace function find_run(p_id bigint, p_uuid uuid) returns json
language plpgsql stable as $$
declare
  v_id bigint := p_id;
begin
  if p_uuid is not null then
    select id into v_id from runs where run_uuid = p_uuid;
  end if;
  return (
    select row_to_json(answer) from (
      select r.id, r.run_uuid, r.workflow_name, j.workflow_kind, r.target, j.params, r.status,
             coalesce(r.outcome, '') as outcome, tally_count(r.tally, 'failedSteps') as failed_steps,
             tally_count(r.tally, 'leftOutModules') as left_out_modules,
             tally_count(r.tally, 'leftOutSteps') as left_out_steps,
             coalesce(r.tally -> 'reasons', '[]') as outcome_reasons, r.workspace,
             coalesce((select org from org_workspaces o where o.workspace = r.workspace),
               '00000000-0000-0000-0000-000000000001') as org_uuid, utc_text(r.started_at) as started_at,
             utc_text(r.completed_at) as completed_at, r.total_steps, r.completed_steps, r.current_pid, j.trigger_type,
             j.job_id, utc_text(r.created_at) as created_at, utc_text(r.updated_at) as updated_at, j.priority,
             r.run_mode, j.runner_type, r.attempt, r.worker_id, j.requirement_class, j.concurrency, r.error_message,
             j.schedule_id, j.trigger_name, j.docker_image, j.docker_network, j.ssh_host, r.facts, r.killed_pids,
             j.timeout_minutes, r.job_no,
             coalesce((select run_uuid::text from runs where id = j.parent_run), '') as loop_run_uuid,
             case when r.batch is not null then
               jsonb_build_object('first', r.batch[1] + 1, 'last', r.batch[2] + 1) end as loop_items,
             coalesce((select infra_id from cloud_infras where id = j.infra_no), '') as infra_id,
             coalesce((select name from cloud_instances where id = r.instance_no), '') as cloud_instance
      from runs r join jobs j on j.id = r.job_no
      where r.id = v_id
    ) answer);
end $$;
