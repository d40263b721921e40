-- What a report says about the workspace of a run that the caller owns, and about the run's job there.
create or replace function worker.report(p_secret text, p_run_id bigint, p_attempt int)
returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: read
as $$
declare
  v_workspace text := workspace_of_owned(p_secret, p_run_id, p_attempt, null);
begin
  if v_workspace is null then
    return null;
  end if;
  return report_facts((select job_no from runs where id = p_run_id), v_workspace);
end $$;
