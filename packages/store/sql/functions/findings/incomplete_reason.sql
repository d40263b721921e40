-- Why a scan of an ended run closes nothing; null: it is complete.
create or replace function incomplete_reason(p_run runs, p_scan scans) returns text
language sql stable as $$
  select case
    when p_run.status <> 'completed' then 'the run ' || case p_run.status when 'failed' then 'failed' else 'was cancelled' end
    when p_scan.attempt <> p_run.attempt then 'the run was started again'
    when p_scan.errors > 0 then 'its report has errors'
    else (select format('step %s %s', name, case status when 'failed' then 'failed' else 'was cancelled' end)
          from steps where run_id = p_run.id and attempt = p_run.attempt and status in ('failed', 'cancelled')
          order by seq limit 1) end
$$;
