-- How the queue is to order the runs of a job among others of its priority.
create or replace function share_of_job(p_job jobs) returns jsonb
language sql stable as $$
  select jsonb_build_object('job_no', p_job.id, 'owner', p_job.submitted_by, 'weight',
    coalesce((select weight from shares s where s.owner = p_job.submitted_by), 1))
$$;
