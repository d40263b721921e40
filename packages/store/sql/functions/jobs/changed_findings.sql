-- The findings that the runs of jobs changed, all in all: one that was gone and came back did not change. Severities
-- and verdicts are those of the end of the jobs; false positives and accepted findings are left out.
create or replace function changed_findings(p_job_nos bigint[]) returns table (kind text, id bigint, severity text)
language sql stable
-- planner: walk
as $$
  with ended as materialized (
    select jobs_end(p_job_nos) as at
  ), changed as (
    select 'new' as kind, 0::bigint as change_id, v.id
    from runs r join vulnerabilities v on v.first_run = r.id
    where r.job_no = any(p_job_nos)
    union all
    select case coalesce(c.changes #>> '{seen,to}', c.changes #>> '{state,to}') when 'gone' then 'gone' else 'back' end,
           c.id, c.vulnerability_id
    from runs r join finding_changes c on c.run_id = r.id
    where r.job_no = any(p_job_nos)
      and ('gone' in (c.changes #>> '{seen,to}', c.changes #>> '{seen,from}')
        or 'gone' in (c.changes #>> '{state,to}', c.changes #>> '{state,from}'))
  ), ends as (
    select c.id, (array_agg(c.kind order by c.change_id))[1] as first,
           (array_agg(c.kind order by c.change_id desc))[1] as last
    from changed c group by c.id
  )
  select case when e.last = 'gone' then 'gone' else e.first end, e.id, coalesce(t.was ->> 'severity', v.severity)
  from ended j cross join ends e join vulnerabilities v on v.id = e.id
    cross join lateral (
      select case when v.updated_at > j.at then (select was from finding_then(v.id, j.at, p_job_nos)) end as was
      offset 0) t
  where (e.first = 'gone') = (e.last = 'gone')
    and coalesce(t.was ->> 'verdict', v.verdict) not in ('false_positive', 'accepted')
$$;
