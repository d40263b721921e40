-- Why a scan of an ended run closes nothing; null: it is complete. What counts is its module, with p_modules that it
-- depends on (null: all). p_explained are those whose imports named what was not tested.
create or replace function incomplete_reason(p_run runs, p_scan scans, p_module text, p_modules text[],
  p_explained text[])
returns text
language sql stable as $$
  select coalesce(
    case
      when p_scan.attempt <> p_run.attempt then 'the run was started again'
      when p_scan.errors > 0 then 'its report has errors' end,
    (select failed_step(s, p_module) from steps s
     where s.run_id = p_run.id and s.attempt = p_run.attempt
       and (s.module = '' or p_modules is null or s.module = any(p_modules))
       and (s.status = 'cancelled' or s.status = 'failed' and s.module <> all(p_explained)
            or s.status = 'completed' and starts_with(s.error_message, 'blocked: ')
            or s.module <> p_module and s.status = 'skipped' and starts_with(s.error_message, 'the module is left out: '))
     order by s.seq limit 1),
    -- The end of the run may have come before a failed step was recorded.
    case when p_run.status <> 'completed' and not exists (
        select from steps s join scopes c on c.id = p_scan.scope_id
        where s.run_id = p_run.id and s.attempt = p_run.attempt and s.status = 'completed' and s.module = p_module
          and s.name = case p_module when '' then c.step else substr(c.step, length(p_module) + 2) end)
      then 'the run ' || case p_run.status when 'failed' then 'failed' else 'was cancelled' end end)
$$;
