-- A step that did not end well, in words, for a scan of p_module.
create or replace function failed_step(p_step steps, p_module text) returns text
language sql stable as $$
  select format('step %s%s %s', p_step.name, coalesce(' of module ' || nullif(nullif(p_step.module, ''), p_module), ''),
                case p_step.status when 'failed' then 'failed' when 'skipped' then 'was skipped' when 'completed' then 'did not do all' else 'was cancelled' end)
    || coalesce(': ' || nullif(left(regexp_replace(p_step.error_message, '\s+', ' ', 'g'), 300), ''), '')
$$;
