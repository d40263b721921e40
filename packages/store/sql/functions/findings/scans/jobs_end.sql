-- When the last run of jobs ended; null: one of them has not ended.
create or replace function jobs_end(p_job_nos bigint[]) returns timestamptz
language sql stable as $$
  select case when bool_and(final_counts is not null) then max((final_counts ->> 'ended_at')::timestamptz) end
  from jobs where id = any(p_job_nos)
$$;
