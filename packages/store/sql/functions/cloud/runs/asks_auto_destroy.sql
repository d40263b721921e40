-- Whether the request of a job asked for an infrastructure that is destroyed after its last run.
create or replace function asks_auto_destroy(p_job jobs) returns boolean
language sql immutable parallel safe as $$
  select coalesce((p_job.cloud ->> 'cloud_auto_destroy')::boolean, false)
$$;
