-- What the runs of a job changed among the findings, by severity: {"new": {"high": 1}, "back": {}, "gone": {}}. A severity
-- without findings is left out, and so are false positives and accepted findings.
create or replace function job_findings(p_job_no bigint) returns jsonb
language sql stable
-- planner: walk
set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off
as $$
  with changed as (
    select 'new' as kind, v.severity, v.id
    from runs r join vulnerabilities v on v.first_run = r.id
    where r.job_no = p_job_no and v.verdict not in ('false_positive', 'accepted')
    union
    select case coalesce(c.changes #>> '{seen,to}', c.changes #>> '{state,to}') when 'gone' then 'gone' else 'back' end,
           v.severity, v.id
    from runs r join finding_changes c on c.run_id = r.id join vulnerabilities v on v.id = c.vulnerability_id
    where r.job_no = p_job_no and v.verdict not in ('false_positive', 'accepted')
      and ('gone' in (c.changes #>> '{seen,to}', c.changes #>> '{seen,from}')
        or 'gone' in (c.changes #>> '{state,to}', c.changes #>> '{state,from}'))
  ), counts as (
    select kind, jsonb_object_agg(severity, count) as by_severity
    from (select kind, severity, count(*) from changed group by kind, severity) c group by kind
  )
  select jsonb_build_object('new', '{}'::jsonb, 'back', '{}'::jsonb, 'gone', '{}'::jsonb)
         || coalesce((select jsonb_object_agg(kind, by_severity) from counts), '{}')
$$;
