-- Judges the scans of up to p_limit ended runs. A record is gone when a complete scan that looked at its place did
-- not see it and no other scope has seen it since. A scan is complete when the steps of its module, and of those that it
-- depends on, ended well and every record could be used; what it did not test is marked, and so are the findings of
-- scopes without a scan. One master judges at a time. Deletes the history of a scope beyond p_history runs. Returns how
-- many runs were judged.
create or replace function judge_scans(p_limit int, p_history int) returns int
language plpgsql as $$
declare
  v_run runs;
  v_scan scans;
  v_kind text;
  v_module text;
  v_modules text[];
  v_reason text;
  v_places untested_place[];
  v_judged int := 0;
begin
  if not try_lock('scans') then
    return 0;
  end if;
  lock table finding_rules in access share mode;
  for v_run in
    select r.* from runs r
    where r.id in (select run_id from scans where judged_at is null union select run_id from unclean_runs)
      and r.status in ('completed', 'failed', 'cancelled')
    order by r.id limit p_limit
  loop
    perform set_config('scanfarm.changing_run', v_run.id::text, true);
    select workflow_kind into v_kind from jobs where id = v_run.job_no;
    for v_scan in select * from scans where run_id = v_run.id and judged_at is null order by scope_id, kind loop
      select module_of(v_kind, step) into v_module from scopes where id = v_scan.scope_id;
      v_modules := modules_before(v_run, v_module);
      v_reason := incomplete_reason(v_run, v_scan, v_module, v_modules, array(
        select module_of(v_kind, c.step) from scans s join scopes c on c.id = s.scope_id
        where (s.run_id, s.attempt) = (v_scan.run_id, v_scan.attempt) and s.names_untested
          and (s.scope_id = v_scan.scope_id or module_of(v_kind, c.step) <> v_module)));
      v_places := untested_places(v_scan, v_kind, v_modules);
      if v_reason is null then
        perform close_unseen(v_scan, v_places);
      end if;
      if v_scan.attempt = v_run.attempt then
        perform mark_untested(v_scan, v_places, v_reason);
      end if;
      perform forget_old_scans(v_scan.scope_id, p_history);
    end loop;
    perform mark_skipped(v_run, v_kind);
    delete from reached_hosts where run_id = v_run.id;
    delete from unclean_runs where run_id = v_run.id;
    update scans set judged_at = now() where run_id = v_run.id and judged_at is null;
    v_judged := v_judged + 1;
  end loop;
  return v_judged;
end $$;
