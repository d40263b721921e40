-- What a report says about a job, or about its part in p_workspace; null: it has no run there. Lists are shortened: 20 names,
-- 100 runs, 50 checks with 10 places each, 100 findings of each change. Records of scanners are left out after 8 MiB; the
-- requests and responses that they repeat are always left out. What is open is what was open at the end of the job, without
-- what people have decided since to leave out.
create or replace function report_facts(p_job_no bigint, p_workspace text) returns jsonb
language sql stable
-- planner: read
as $$
  with these as materialized (
    select r.id, r.target, r.workspace, r.status, coalesce(r.outcome, '') as outcome
    from runs r where r.job_no = p_job_no and (p_workspace is null or r.workspace = p_workspace)
  ), spaces as materialized (
    select distinct workspace from these
  ), ended as materialized (
    select coalesce(jobs_end(array[p_job_no]), now()) as at
  ), found as materialized (
    select v.id, coalesce(t.was ->> 'severity', v.severity) as severity, v.vuln_info, v.vuln_title, v.asset_value,
           v.first_seen, e.at - v.first_seen as age, v.verdict,
           coalesce(t.was ->> 'seen', v.seen) <> 'gone' and v.verdict not in ('false_positive', 'accepted')
             and (v.verdict <> 'fixed_claimed' or v.back_at is not null) as is_open
    from ended e cross join spaces s join vulnerabilities v on v.workspace = s.workspace
      cross join lateral (
        select case when v.updated_at > e.at then (select was from finding_then(v.id, e.at, array[p_job_no])) end as was
        offset 0) t
    where v.first_seen <= e.at
  ), issues as materialized (
    select coalesce(nullif(vuln_info, ''), vuln_title) as check_name, min(severity_rank(severity)) as rank,
           (array_agg(id order by severity_rank(severity), id))[1] as id,
           (array_agg(severity order by severity_rank(severity)))[1] as severity,
           (array_agg(left(coalesce(nullif(vuln_title, ''), vuln_info), 300) order by severity_rank(severity), id))[1]
             as title,
           (array_agg(distinct left(asset_value, 300)))[1:10] as places,
           count(distinct asset_value) as place_count, min(first_seen) as first_seen
    from found where is_open group by 1
  ), listed as (
    select i.*, left(v.vuln_desc, 10000) as vuln_desc, replace(v.raw_vuln_json, chr(1), '') as raw,
           sum(length(v.raw_vuln_json)) over (order by i.rank, i.place_count desc, i.id) as chars
    from (select * from issues order by rank, place_count desc, id limit 50) i join vulnerabilities v on v.id = i.id
  )
  select jsonb_build_object(
    'job_id', j.job_id, 'workflow_name', j.workflow_name, 'created_at', utc_text(j.created_at),
    'ended_at', j.final_counts ->> 'ended_at', 'outcome', job_outcome(j.final_counts, j.target_count),
    'workspaces', array(select workspace from spaces order by 1 limit 20),
    'workspace_count', (select count(*) from spaces),
    'targets', array(select without_password(target) from these order by id limit 20),
    'run_count', c.runs, 'clean_count', c.clean, 'open_count', c.open,
    'unclean', unclean_runs(p_job_no, p_workspace, 100),
    'ages', (
      select coalesce(jsonb_agg(to_jsonb(a) order by severity_rank(a.severity)), '[]') from (
        select severity, count(*) filter (where age < interval '7 days') as week,
               count(*) filter (where age >= interval '7 days' and age < interval '30 days') as month,
               count(*) filter (where age >= interval '30 days' and age < interval '90 days') as quarter,
               count(*) filter (where age >= interval '90 days') as older, utc_text(min(first_seen)) as oldest
        from found where is_open group by severity) a),
    'issues', (
      select coalesce(jsonb_agg(jsonb_build_object('severity', severity, 'title', title, 'places', places,
        'place_count', place_count, 'first_seen', utc_text(first_seen), 'vuln_desc', vuln_desc,
        'raw_vuln_json', case when chars <= 8388608 then raw else '' end) order by rank, place_count desc, id), '[]')
      from listed),
    'issue_count', (select count(*) from issues),
    'false_positive', (select count(*) from found where verdict = 'false_positive'),
    'accepted', (select count(*) from found where verdict = 'accepted'),
    'changes', job_changes(array[p_job_no], array(select workspace from spaces), p_workspace, 100))
  from jobs j cross join lateral (
    select count(*) as runs, count(*) filter (where outcome = 'clean') as clean,
           count(*) filter (where status not in ('completed', 'failed', 'cancelled')) as open
    from these) c
  where j.id = p_job_no and c.runs > 0
$$;
