-- Creates the runs of one chunk of a large job, the most urgent job first. False: there is no chunk left.
create or replace function expand_chunk() returns boolean
language plpgsql as $$
declare
  v_job jobs;
  v_chunk job_targets;
begin
  select t.* into v_chunk from job_targets t join jobs j on j.id = t.job_no
  order by priority_rank(j.priority), t.job_no, t.chunk limit 1 for update of t skip locked;
  if not found then
    return false;
  end if;
  select * into v_job from jobs where id = v_chunk.job_no for no key update;
  delete from job_targets where job_no = v_chunk.job_no and chunk = v_chunk.chunk;
  perform insert_runs(v_job, v_chunk.targets, v_chunk.workspaces, null, 0);
  perform notify_masters();
  return true;
end $$;
