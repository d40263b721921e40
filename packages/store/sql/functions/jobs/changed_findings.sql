-- The findings that the runs of jobs changed, all in all: one that was gone and came back did not change. False positives
-- and accepted findings are left out.
create or replace function changed_findings(p_job_nos bigint[]) returns table (kind text, id bigint, severity text)
language sql stable
-- planner: walk
as $$
  with changed as (
    select 'new' as kind, 0::bigint as change_id, v.id, v.severity
    from runs r join vulnerabilities v on v.first_run = r.id
    where r.job_no = any(p_job_nos) and v.verdict not in ('false_positive', 'accepted')
    union all
    select case coalesce(c.changes #>> '{seen,to}', c.changes #>> '{state,to}') when 'gone' then 'gone' else 'back' end,
           c.id, v.id, v.severity
    from runs r join finding_changes c on c.run_id = r.id join vulnerabilities v on v.id = c.vulnerability_id
    where r.job_no = any(p_job_nos) and v.verdict not in ('false_positive', 'accepted')
      and ('gone' in (c.changes #>> '{seen,to}', c.changes #>> '{seen,from}')
        or 'gone' in (c.changes #>> '{state,to}', c.changes #>> '{state,from}'))
  ), ends as (
    select c.id, c.severity, (array_agg(c.kind order by c.change_id))[1] as first,
           (array_agg(c.kind order by c.change_id desc))[1] as last
    from changed c group by c.id, c.severity
  )
  select case when e.last = 'gone' then 'gone' else e.first end, e.id, e.severity
  from ends e where (e.first = 'gone') = (e.last = 'gone')
$$;
