-- Creates the runs of one chunk of a large job, the most urgent job first. Null: there is no chunk left. p_capacity holds, by
-- requirement class and rank, how many runs may be marked as sent. Returns class, priority and share of the job and the
-- ids of the runs that were (fill_outbox).
create or replace function expand_chunk(p_capacity jsonb default '{}') returns jsonb
language plpgsql as $$
declare
  v_job jobs;
  v_chunk job_targets;
  v_sent bigint[];
  v_last bigint;
begin
  select t.* into v_chunk from job_targets t join jobs j on j.id = t.job_no
  order by priority_rank(j.priority), t.job_no, t.chunk limit 1 for update of t skip locked;
  if not found then
    return null;
  end if;
  select * into v_job from jobs where id = v_chunk.job_no for no key update;
  delete from job_targets where job_no = v_chunk.job_no and chunk = v_chunk.chunk;
  select max(id) into v_last from runs where job_no = v_job.id;
  v_sent := insert_runs(v_job, v_chunk.targets, v_chunk.workspaces, null,
                        coalesce((p_capacity -> v_job.requirement_class ->> v_job.priority)::int, 0));
  perform take_over_runs(v_job.id, coalesce(v_last, 0)) where v_job.resume_from is not null;
  if cardinality(v_sent) < cardinality(v_chunk.targets) then
    perform notify_masters();
  end if;
  return share_of_job(v_job)
    || jsonb_build_object('class', v_job.requirement_class, 'priority', v_job.priority, 'sent', v_sent);
end $$;
