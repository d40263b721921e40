-- The findings that the runs of jobs changed, and the open ones of p_workspaces that could not be tested at their end:
-- {"counts": {kind: {severity: count}}, "findings": {kind: [the p_limit most severe]}}. p_workspace: only its findings.
-- What scans saw, and why, is of the end of the jobs; what people decided is of today.
create or replace function job_changes(p_job_nos bigint[], p_workspaces text[], p_workspace text, p_limit int)
returns jsonb
language sql stable
-- planner: read
as $$
  with ended as materialized (
    select jobs_end(p_job_nos) as at
  ), changed as materialized (
    select c.kind, c.id, c.severity from changed_findings(p_job_nos) c
    where p_workspace is null or (select workspace from vulnerabilities where id = c.id) = p_workspace
    union all
    select 'not_tested', n.id, n.severity from not_tested_findings(p_job_nos, p_workspaces) n
  ), numbered as (
    select *, row_number() over (partition by kind order by severity_rank(severity), id) as n from changed
  ), kinds as (
    select k.kind,
      coalesce((select jsonb_object_agg(severity, count) from (
        select severity, count(*) from changed where kind = k.kind group by severity) c), '{}') as counts,
      coalesce((
        select jsonb_agg(jsonb_build_object('id', v.id, 'severity', c.severity, 'vuln_info', left(v.vuln_info, 300),
          'vuln_title', left(v.vuln_title, 300), 'asset_value', left(v.asset_value, 300), 'workspace', v.workspace,
          'seen', coalesce(t.was ->> 'seen', v.seen), 'seen_reason', coalesce(t.was ->> 'seen_reason', v.seen_reason),
          'verdict', v.verdict, 'back_at', utc_text(v.back_at)) order by c.n)
        from ended e cross join numbered c join vulnerabilities v on v.id = c.id
          left join lateral finding_then(v.id, e.at, p_job_nos) t on true
        where c.kind = k.kind and c.n <= p_limit), '[]') as findings
    from unnest(array['new', 'back', 'gone', 'not_tested']) k(kind)
  )
  select jsonb_build_object('counts', jsonb_object_agg(kind, counts), 'findings', jsonb_object_agg(kind, findings))
  from kinds
$$;
