-- Stores the final counts of up to p_limit jobs after p_after, as far as all their runs have ended and their scans are
-- judged, and writes the events of their ends (log_ended_jobs). Remembers an open run of each large job and reads on
-- from there when it has ended, so a call that finds it open reads one run, and each run is read about twice in the life
-- of its job; small jobs are counted together. Returns how many jobs were counted, and the last job that was read; null:
-- there was none.
create or replace function settle_jobs(p_after bigint, p_limit int) returns table (counted int, last_no bigint)
language plpgsql
-- planner: walk
as $$
declare
  v_job record;
  v_status text;
  v_open bigint;
  v_counts jsonb;
  v_small constant int := 20;
  v_settled bigint[];
  -- What is gone is not known yet.
  v_unjudged bigint[] := array(
    select r.job_no from scans s join runs r on r.id = s.run_id where s.judged_at is null);
begin
  counted := 0;
  if not try_lock('jobs') then
    return next;
    return;
  end if;
  select max(id) into last_no from (
    select id from jobs where final_counts is null and id > p_after order by id limit p_limit) due;
  with settled as (
    update jobs j set final_counts = c.counts
    from (
      select id, target_count, created_at from jobs
      where final_counts is null and id > p_after and id <= last_no and target_count <= v_small
        and id <> all(v_unjudged)
      order by id limit p_limit
    ) due
    cross join lateral (
      select count(*) as made, count(completed_at) as ended, jsonb_build_object(
        'completed', count(*) filter (where status = 'completed'), 'failed', count(*) filter (where status = 'failed'),
        'cancelled', count(*) filter (where status = 'cancelled'), 'clean', count(*) filter (where outcome = 'clean'),
        'partial', count(*) filter (where outcome = 'partial'),
        'nothing_done', count(*) filter (where outcome = 'nothing_done'),
        -- A job of mode delta may have nothing to run.
        'ended_at', utc_text(coalesce(max(completed_at), due.created_at))) as counts
      from runs where job_no = due.id
    ) c
    where j.id = due.id and c.made = due.target_count and c.ended = c.made and not has_unjudged_runs(due.id)
      and j.target_count = due.target_count and j.final_counts is null
    returning j.id
  )
  select coalesce(array_agg(id), '{}') into v_settled from settled;
  for v_job in
    select id, target_count, open_run from jobs
    where final_counts is null and id > p_after and id <= last_no and target_count > v_small and id <> all(v_unjudged)
    order by id limit p_limit
  loop
    select status into v_status from runs where job_no = v_job.id order by job_no desc, id desc limit 1;
    continue when v_status is null or v_status in ('pending', 'queued', 'running')
      or exists (select from job_targets where job_no = v_job.id)
      or exists (select from runs where id = v_job.open_run and status || '' in ('pending', 'queued', 'running'));
    -- All runs exist by now, and one that has ended never opens again.
    select id into v_open from runs
    where job_no = v_job.id and id > coalesce(v_job.open_run, 0) and status || '' in ('pending', 'queued', 'running')
    order by job_no, id limit 1;
    if found then
      update jobs set open_run = v_open where id = v_job.id;
      continue;
    end if;
    continue when has_unjudged_runs(v_job.id);
    select jsonb_build_object(
      'completed', count(*) filter (where status = 'completed'), 'failed', count(*) filter (where status = 'failed'),
      'cancelled', count(*) filter (where status = 'cancelled'), 'clean', count(*) filter (where outcome = 'clean'),
      'partial', count(*) filter (where outcome = 'partial'),
      'nothing_done', count(*) filter (where outcome = 'nothing_done'), 'ended_at', utc_text(max(completed_at)))
    into v_counts from runs where job_no = v_job.id;
    -- Retention that removed runs meanwhile has changed target_count.
    update jobs set final_counts = v_counts
    where id = v_job.id and target_count = v_job.target_count and final_counts is null;
    if found then
      v_settled := v_settled || v_job.id;
    end if;
  end loop;
  perform log_ended_jobs(v_settled);
  counted := cardinality(v_settled);
  return next;
end $$;
