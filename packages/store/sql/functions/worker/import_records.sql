-- Imports the records that a step of a run found. p_errors counts records that could not be used, p_reached lists
-- the hosts that the step reached (null: its whole scope), p_params are the params of its scope. p_import and p_part name
-- the import and number its parts. p_failed_hosts, p_failed_files and p_failed_places ({place, check, reason, silent,
-- ports}; silent: it did not answer) could not be scanned; p_names_untested: they are all that was not. Null: the caller
-- does not own the run, and nothing was written. The row of the run is locked to the end of the transaction, so that no
-- other worker gets the run in between.
create or replace function worker.import_records(p_secret text, p_run_id bigint, p_attempt int, p_step text, p_kind text,
                                      p_workspace text, p_source text, p_items jsonb, p_errors int,
                                      p_reached text[] default null, p_params jsonb default null,
                                      p_import uuid default null, p_part int default null,
                                      p_failed_hosts text[] default null, p_failed_files text[] default null,
                                      p_failed_places jsonb default null, p_names_untested boolean default false)
returns jsonb
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: walk
as $$
declare
  v_run runs;
  v_scope bigint;
  v_counts jsonb;
begin
  select * into v_run from runs
  where id = p_run_id and attempt = p_attempt and status = 'running' and worker_id = any(own_workers(p_secret))
  for share;
  if not found then
    return null;
  end if;
  v_scope := scope_of(v_run, p_workspace, p_step, p_params);
  insert into scans as s (run_id, attempt, scope_id, kind, errors, names_hosts, names_untested)
  values (p_run_id, p_attempt, v_scope, p_kind, p_errors, p_reached is not null, p_names_untested)
  on conflict (run_id, attempt, scope_id, kind) do update
  set errors = s.errors + excluded.errors, names_hosts = s.names_hosts or excluded.names_hosts,
    names_untested = s.names_untested or excluded.names_untested
  where excluded.errors > 0 or (excluded.names_hosts and not s.names_hosts)
    or (excluded.names_untested and not s.names_untested);
  insert into reached_hosts (run_id, attempt, scope_id, kind, host)
  select distinct p_run_id, p_attempt, v_scope, p_kind, host_of(h) from unnest(p_reached) h where host_of(h) <> ''
  on conflict do nothing;
  insert into reached_hosts as r (run_id, attempt, scope_id, kind, host, check_id, reason, failed, silent, ports)
  select distinct on (f.place, f.check_id) p_run_id, p_attempt, v_scope, p_kind, f.place, f.check_id, f.reason, true,
    f.silent, f.ports
  from (select host_of(h) as place, '' as check_id, '' as reason, false as silent, null::int4multirange as ports
        from unnest(p_failed_hosts) h
        union all select f, '', '', false, null from unnest(p_failed_files) f
        union all select
          case when p.ports is null then coalesce(endpoint_of(p.place), host_of(p.place))
            else host_of(p.place) || ':*' || coalesce(substring(p.place from '/udp$'), '') end,
          coalesce(p."check", ''), left(p.reason, 300), coalesce(p.silent, false), p.ports::int4multirange
        from jsonb_to_recordset(p_failed_places)
          as p(place text, "check" text, reason text, silent boolean, ports text)) f
  where f.place <> ''
  order by f.place, f.check_id, f.silent desc, f.reason desc
  on conflict (run_id, attempt, scope_id, kind, host, check_id) do update set failed = true, reason = excluded.reason,
    silent = excluded.silent, ports = excluded.ports
  where not r.failed;
  v_counts := case p_kind
    when 'asset' then import_assets(p_workspace, p_items, p_source, v_run, v_scope)
    else import_vulnerabilities(p_workspace, p_items, p_source, v_run, v_scope, p_import, p_part)
  end;
  return v_counts || jsonb_build_object('errors', p_errors);
end $$;
