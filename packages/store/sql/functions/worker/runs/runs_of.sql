-- Runs of the workspace of a run that the caller owns, or one of them by its uuid, for workflow functions.
create or replace function worker.runs_of(p_secret text, p_run_id bigint, p_attempt int, p_workspace text,
                                          p_run_uuid text, p_limit int)
returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: read
as $$
declare
  v_runs jsonb;
  v_workspace text := workspace_of_owned(p_secret, p_run_id, p_attempt, nullif(p_workspace, ''));
begin
  if v_workspace is null then
    return null;
  end if;
  select jsonb_agg(jsonb_build_object(
    'id', r.id, 'run_uuid', r.run_uuid, 'workflow_name', r.workflow_name, 'target', r.target,
    'workspace', r.workspace, 'status', r.status, 'total_steps', r.total_steps,
    'completed_steps', r.completed_steps, 'error_message', r.error_message, 'started_at', r.started_at,
    'completed_at', r.completed_at) order by r.id desc)
  into v_runs
  from (select * from runs where p_run_uuid = '' and workspace = v_workspace and batch is null
        union all
        select * from runs
        where run_uuid = case when p_run_uuid ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then p_run_uuid::uuid end
          and workspace = v_workspace
        order by id desc limit p_limit) r;
  return coalesce(v_runs, '[]');
end $$;
