-- The findings in the workspaces of jobs that were not tested at their end, by severity: {"critical": 1}.
create or replace function not_tested_counts(p_job_nos bigint[]) returns jsonb
language sql stable as $$
  select coalesce(jsonb_object_agg(severity, count), '{}')
  from (select severity, count(*)
        from not_tested_findings(p_job_nos, array(select distinct workspace from runs where job_no = any(p_job_nos)))
        group by severity) c
$$;
