-- Judges the scans of up to p_limit ended runs. A record is gone when a complete scan that looked at its place did
-- not see it and no other scope has seen it since. A scan is complete when its run completed, none of its steps
-- failed and every record could be used; other findings are marked as not tested. One master judges at a time. Deletes the history of a scope beyond
-- p_history runs. Returns how many runs were judged.
create or replace function judge_scans(p_limit int, p_history int) returns int
language plpgsql as $$
declare
  v_run runs;
  v_scan scans;
  v_reason text;
  v_judged int := 0;
begin
  if not try_lock('scans') then
    return 0;
  end if;
  for v_run in
    select r.* from runs r
    where r.id in (select run_id from scans where judged_at is null)
      and r.status in ('completed', 'failed', 'cancelled')
    order by r.id limit p_limit
  loop
    for v_scan in select * from scans where run_id = v_run.id and judged_at is null order by scope_id, kind loop
      v_reason := incomplete_reason(v_run, v_scan);
      if v_reason is null then
        perform close_unseen(v_scan);
      end if;
      if v_scan.attempt = v_run.attempt then
        perform mark_untested(v_scan, v_reason);
      end if;
      perform forget_old_scans(v_scan.scope_id, p_history);
    end loop;
    delete from reached_hosts where run_id = v_run.id;
    update scans set judged_at = now() where run_id = v_run.id and judged_at is null;
    v_judged := v_judged + 1;
  end loop;
  return v_judged;
end $$;
