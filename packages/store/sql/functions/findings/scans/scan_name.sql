-- The module of a scan in words.
create or replace function scan_name(p_scan scans) returns text
language sql stable as $$
  select 'module ' || coalesce(nullif(module_of(j.workflow_kind, c.step), ''), c.workflow_name)
  from scopes c join runs r on r.id = p_scan.run_id join jobs j on j.id = r.job_no where c.id = p_scan.scope_id
$$;
