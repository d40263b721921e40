-- The data of a run's events, as JSON text.
create or replace function run_event_data(r runs, j jobs) returns text
language sql stable as $$
  select json_build_object(
    'run_id', r.id, 'run_uuid', r.run_uuid, 'job_id', j.job_id, 'workflow', r.workflow_name, 'kind', j.workflow_kind,
    'target', without_password(r.target), 'workspace', r.workspace, 'status', r.status, 'attempt', r.attempt,
    'error_message', left(r.error_message, 8000), 'total_steps', r.total_steps, 'completed_steps', r.completed_steps,
    'outcome', coalesce(r.outcome, ''), 'failed_steps', tally_count(r.tally, 'failedSteps'),
    'left_out_modules', tally_count(r.tally, 'leftOutModules'), 'left_out_steps', tally_count(r.tally, 'leftOutSteps'),
    'outcome_reasons', coalesce(r.tally -> 'reasons', '[]'))::text
$$;
