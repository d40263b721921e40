-- The open findings in the workspaces of jobs that their last scan could not test or reach, by severity: {"critical": 1}.
create or replace function not_tested_findings(p_job_nos bigint[]) returns jsonb
language sql stable
-- planner: walk
as $$
  with spaces as materialized (select distinct workspace from runs where job_no = any(p_job_nos))
  select coalesce(jsonb_object_agg(severity, count), '{}')
  from (
    select v.severity, count(*) from spaces s join vulnerabilities v on v.workspace = s.workspace
    where v.state = 'open' and v.seen in ('not_tested', 'unreachable') group by v.severity
  ) c
$$;
