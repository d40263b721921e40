-- Trigger: writes an event for each step that ended, unless an earlier attempt executed it. A final status never changes
-- again, so each ended row has just ended. Those of batches name the run of their loop, which has a step for the loop.
create or replace function log_ended_steps() returns trigger
language plpgsql as $$
declare
  v_completed_is_wanted boolean;
  v_failed_is_wanted boolean;
begin
  if exists (select from written where status in ('completed', 'failed') and taken_from is null) then
    v_completed_is_wanted := event_is_wanted('step.completed');
    v_failed_is_wanted := event_is_wanted('step.failed');
    insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                            processed, processed_at)
    select e.topic, 'evt_' || replace(s.id::text, '-', ''), e.topic, 'executor', 'step',
           json_build_object(
             'run_id', r.id, 'run_uuid', r.run_uuid, 'workflow', r.workflow_name, 'target', without_password(r.target),
             'attempt', case when r.id = s.run_id then s.attempt else r.attempt end,
             'batch_run_id', nullif(s.run_id, r.id), 'step_id', s.id, 'step_name', s.name, 'step_type', s.type, 'module', s.module,
             'status', s.status, 'duration_ms', s.duration_ms, 'exit_code', s.exit_code,
             'error_message', left(s.error_message, 2000))::text,
           r.workspace, r.run_uuid::text, r.workflow_name,
           not e.wanted, case when e.wanted then null else now() end
    from written s
    cross join lateral (select runs as run from runs where id = s.run_id offset 0) own
    cross join lateral reported_run(own.run) r
    cross join lateral (select 'step.' || s.status as topic, case s.status when 'completed' then v_completed_is_wanted
                        else v_failed_is_wanted end as wanted) e
    where s.status in ('completed', 'failed') and s.taken_from is null and (r.id = s.run_id or s.seq > 1)
    order by s.run_id, s.seq;
  end if;
  return null;
end $$;
