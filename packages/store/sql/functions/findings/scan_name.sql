-- A scan in words.
create or replace function scan_name(p_scan scans) returns text
language sql stable as $$
  select format('step %s of %s in run %s', step, workflow_name, p_scan.run_id) from scopes where id = p_scan.scope_id
$$;
