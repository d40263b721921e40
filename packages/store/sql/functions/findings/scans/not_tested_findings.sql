-- The open findings of p_workspaces that could not be tested or reached at the end of jobs, with their severities then.
create or replace function not_tested_findings(p_job_nos bigint[], p_workspaces text[])
returns table (id bigint, severity text)
language sql stable
-- planner: walk
as $$
  with ended as materialized (
    select jobs_end(p_job_nos) as at
  ), candidates as (
    select v.id from unnest(p_workspaces) w(workspace) join vulnerabilities v on v.workspace = w.workspace
    where v.seen in ('not_tested', 'unreachable')
    union
    select c.vulnerability_id from ended e join finding_changes c on c.changed_at > e.at
    where c.changes #>> '{seen,from}' in ('not_tested', 'unreachable')
  )
  select v.id, coalesce(t.was ->> 'severity', v.severity)
  from candidates c join vulnerabilities v on v.id = c.id cross join ended e
    left join lateral finding_then(v.id, e.at, p_job_nos) t on true
  where v.workspace = any(p_workspaces)
    and coalesce(t.was ->> 'state', v.state) = 'open'
    and coalesce(t.was ->> 'seen', v.seen) in ('not_tested', 'unreachable')
$$;
