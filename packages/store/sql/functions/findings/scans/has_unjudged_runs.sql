-- Whether what runs of a job could not test is not known yet. Only the runs of the job are read.
create or replace function has_unjudged_runs(p_job_no bigint) returns boolean
language plpgsql stable as $$
begin
  return exists (
    select from (select id from runs where job_no = p_job_no offset 0) r join unclean_runs u on u.run_id = r.id);
end $$;
