-- What the runs of a job changed among the findings, by severity: {"new": {"high": 1}, "back": {}, "gone": {}}. A severity
-- without findings is left out; see changed_findings.
create or replace function job_findings(p_job_no bigint) returns jsonb
language sql stable as $$
  with counts as (
    select kind, jsonb_object_agg(severity, count) as by_severity
    from (select kind, severity, count(*) from changed_findings(array[p_job_no]) group by kind, severity) c group by kind
  )
  select jsonb_build_object('new', '{}'::jsonb, 'back', '{}'::jsonb, 'gone', '{}'::jsonb)
         || coalesce((select jsonb_object_agg(kind, by_severity) from counts), '{}')
$$;
