-- Whether a limit demands that the workflow of a run works once at a time on its target. Null: whether any limit does.
create or replace function works_once(p_run_id bigint) returns boolean
language sql stable as $$
  select exists (select from farm_limits where limits -> 'workflow_once' = 'true')
    or exists (
      select from scan_scopes s where s.limits -> 'workflow_once' = 'true' and (p_run_id is null or s.id = any(
        array(select unnest(scopes_of_run(j.scope_no, r.workspace)) from runs r join jobs j on j.id = r.job_no
              where r.id = p_run_id))))
$$;
