-- What the runs of a job changed among the findings, see changed_findings: counts by severity, without those that are 0,
-- {"new": {"high": 1}, "back": {}, "gone": {}}, and of the new and returned ones the five worst.
create or replace function findings_of_job(p_job_no bigint) returns table (counts jsonb, worst jsonb)
language sql stable as $$
  with changed as materialized (
    select kind, id, severity from changed_findings(array[p_job_no])
  ), by_kind as (
    select kind, jsonb_object_agg(severity, count) as by_severity
    from (select kind, severity, count(*) from changed group by kind, severity) c group by kind
  ), top as (
    select kind, id, severity from changed where kind <> 'gone' order by severity_rank(severity), id limit 5
  )
  select '{"new": {}, "back": {}, "gone": {}}'::jsonb
         || coalesce((select jsonb_object_agg(kind, by_severity) from by_kind), '{}'),
         coalesce((
           select jsonb_agg(jsonb_build_object('id', t.id, 'kind', t.kind, 'severity', t.severity,
             'title', left(coalesce(nullif(v.vuln_title, ''), v.vuln_info), 200), 'place', left(v.asset_value, 200))
             order by severity_rank(t.severity), t.id)
           from top t join vulnerabilities v on v.id = t.id), '[]')
$$;
