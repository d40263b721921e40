-- Runs of the retry p_job_no may take over the steps of the latest run with the same target and workspace in the
-- jobs that it repeats. p_after: only runs with greater ids. A run that is to begin at a step but finds nothing stored says
-- so: it gets a point without entries.
create or replace function take_over_runs(p_job_no bigint, p_after bigint) returns void
language sql as $$
  with recursive chain as (
    select retry_of as id from jobs where id = p_job_no
    union all select j.retry_of from jobs j join chain c on j.id = c.id where j.retry_of is not null
  )
  update runs r
  set resume = old.resume || jsonb_build_object('from', j.resume_from)
  from jobs j
  cross join lateral (
    select n.id, coalesce(o.resume, case jsonb_typeof(j.resume_from) when 'object' then
                          jsonb_build_object('runUuid', o.run_uuid, 'attempt', o.attempt, 'entries', 0) end) as resume
    from runs n
    cross join lateral (
      select resume, run_uuid, attempt from runs o
      where o.target = n.target and o.workspace = n.workspace and o.job_no in (select id from chain) and o.id < n.id
      order by o.id desc limit 1) o
    where n.job_no = j.id and n.id > p_after) old
  where j.id = p_job_no and j.resume_from is not null and r.id = old.id and old.resume is not null
$$;
