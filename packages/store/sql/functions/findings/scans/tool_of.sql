-- The name of a tool with its version on the worker of a run, where the run used the programs of the worker.
create or replace function tool_of(p_run_id bigint, p_source text) returns text
language sql stable as $$
  select p_source || coalesce((
    select ' ' || (t ->> 'version')
    from runs r join jobs j on j.id = r.job_no join workers w on w.id = r.worker_id
      cross join lateral jsonb_array_elements(w.tools) t
    where r.id = p_run_id and r.run_mode <> 'cloud' and j.runner_type = 'host' and t ->> 'name' = p_source
      and t ->> 'version' <> '' limit 1), '')
$$;
