-- Creates a job that repeats runs of the job p_job_no: those of its targets whose latest run, in the job and its
-- retries, has one of the statuses or outcomes. With p_run_ids only targets of these runs count. One retry of a job at a
-- time, so that two callers never repeat the same run. p_cloud is the infrastructure of a cloud job. More than p_at_once
-- targets are stored, and expand_chunk creates their runs. p_from: the first step that its runs execute again, see
-- ResumePoint of contracts; null: all. Returns the id of the new job, the number of its runs, and how many of them are to
-- begin at a step but at the start instead; if there are none, the job is that retry whose runs have not ended, or null.
create or replace function retry_job(p_job_no bigint, p_job_id text, p_statuses text[], p_outcomes text[],
                                     p_run_ids bigint[], p_cloud jsonb, p_at_once int, p_from jsonb)
returns table (job_id text, runs int, at_start int)
language plpgsql as $$
#variable_conflict use_column
declare
  v_chain bigint[];
  v_ids bigint[];
  v_job jsonb;
  v_stored boolean;
  v_targets text[] := '{}';
  v_workspaces text[] := '{}';
  v_no bigint;
begin
  perform 1 from jobs where id = p_job_no for no key update;
  v_chain := array(
    with recursive chain as (
      select p_job_no as id union all select j.id from jobs j join chain c on j.retry_of = c.id
    )
    select id from chain);
  v_ids := array(
    select id from (
      select distinct on (target, workspace) id, target, workspace, status, outcome,
             min(id) over (partition by target, workspace) as first
      from runs
      where job_no = any(v_chain)
        and (p_run_ids is null or target in (select o.target from runs o where o.id = any(p_run_ids)))
      order by target, workspace, id desc
    ) latest
    where (status = any(p_statuses) or outcome = any(p_outcomes))
      and target not in (select unnest(t.targets) from job_targets t where t.job_no = any(v_chain))
      and (p_run_ids is null
           or (target, workspace) in (select o.target, o.workspace from runs o where o.id = any(p_run_ids)))
    order by first);
  if cardinality(v_ids) = 0 then
    return query
      select j.job_id, 0, 0 from jobs j
      where j.id = any(v_chain) and j.id <> p_job_no
        and (exists (select from job_targets t where t.job_no = j.id)
             or exists (select from runs r where r.job_no = j.id and r.status in ('pending', 'queued', 'running')))
      order by j.id desc limit 1;
    return;
  end if;

  select to_jsonb(j) || jsonb_build_object('job_id', p_job_id, 'starts', true, 'target_count', cardinality(v_ids), 'refused', 0,
                                           'delta', null, 'left_out', 0,
                                           'workflow_json', w.json, 'cloud_infra', p_cloud)
  into v_job
  from jobs j join pinned_workflows w on w.hash = j.workflow_hash where j.id = p_job_no;
  v_stored := cardinality(v_ids) > p_at_once;
  if not v_stored then
    select array_agg(r.target order by n), array_agg(r.workspace order by n) into v_targets, v_workspaces
    from unnest(v_ids) with ordinality u(id, n) join runs r on r.id = u.id;
  end if;
  v_no := submit_job(v_job, v_targets, v_workspaces, null, v_stored, null) ->> 'job_no';
  update jobs set retry_of = p_job_no, resume_from = p_from where id = v_no;
  perform take_over_runs(v_no, 0) where p_from is not null and not v_stored;
  if v_stored then
    insert into job_targets (job_no, chunk, targets, workspaces)
    select v_no, (n - 1) / 2000, array_agg(r.target order by n), array_agg(r.workspace order by n)
    from unnest(v_ids) with ordinality u(id, n) join runs r on r.id = u.id
    group by 2;
    perform join_infra(v_no, p_cloud) where p_cloud is not null;
  end if;
  return query select p_job_id, cardinality(v_ids), (
    select count(*)::int from runs r where r.job_no = v_no and r.resume ->> 'entries' = '0');
end $$;
