-- Marks findings as not tested that only scopes saw which a judged run should have scanned and did not: those of its
-- workflow on its target with the params of its other scans, or else with most params of the job. Those at places that did
-- not answer a module before are unreachable.
create or replace function mark_skipped(p_run runs, p_kind text) returns void
language plpgsql as $$
declare
  v_scope scopes;
  v_module text;
  v_scan scans;
  v_params jsonb := (
    select c.scan_params from scans s join scopes c on c.id = s.scope_id where s.run_id = p_run.id limit 1);
begin
  if v_params is null then
    select c.scan_params into v_params from scopes c join jobs j on j.id = p_run.job_no
    where (c.workspace, c.workflow_name, c.target) = (p_run.workspace, p_run.workflow_name, p_run.target)
      and c.scan_params <@ j.params
    order by (select count(*) from jsonb_object_keys(c.scan_params)) desc limit 1;
  end if;
  for v_scope in
    select c.* from scopes c
    where (c.workspace, c.workflow_name, c.target) = (p_run.workspace, p_run.workflow_name, p_run.target)
      and c.scan_params = v_params and not exists (
        select from scans s where (s.run_id, s.attempt, s.scope_id) = (p_run.id, p_run.attempt, c.id))
    order by c.id
  loop
    v_module := module_of(p_kind, v_scope.step);
    v_scan := (p_run.id, p_run.attempt, v_scope.id, 'vulnerability', 0, null, false, false);
    perform mark_untested(v_scan, untested_places(v_scan, p_kind, modules_before(p_run, v_module)),
      coalesce((select failed_step(s, v_module) from steps s
       where s.run_id = p_run.id and s.attempt = p_run.attempt and s.module = v_module
         and s.status in ('failed', 'cancelled', 'skipped')
       order by array_position(array['failed', 'cancelled', 'skipped'], s.status), s.seq limit 1),
      nullif(left(p_run.error_message, 300), ''), 'it did not run'));
  end loop;
end $$;
