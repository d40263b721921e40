-- What a run of the worker may scan: the rules of the scope of its job and of that of its workspace, and the never-scan
-- list, and the kinds of hosts that limits are about. Null: the worker does not own the run.
create or replace function worker.boundary(p_secret text, p_run_id bigint, p_attempt int) returns jsonb
language sql stable security definer set search_path = pg_catalog, public, pg_temp as $$
  select jsonb_build_object(
    'scopes', coalesce((select jsonb_agg(rules_of_scope(id)) from unnest(scopes_of_run(j.scope_no, r.workspace)) id), '[]'),
    'neverScan', never_scan_rules(r.workflow_name),
    'limited', (select coalesce(jsonb_agg(distinct kind), '[]')
                from (select limits from farm_limits
                      union all
                      select limits from scan_scopes where id = any(scopes_of_run(j.scope_no, r.workspace))) l
                cross join lateral jsonb_each(l.limits) as e(kind, value)
                where jsonb_typeof(value) = 'object'))
  from runs r join jobs j on j.id = r.job_no
  where r.id = p_run_id and r.attempt = p_attempt and r.status = 'running' and r.worker_id = any(own_workers(p_secret))
$$;
