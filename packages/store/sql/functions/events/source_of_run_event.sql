-- The source of an event that a run emits: the sources of events that the farm writes are not for runs.
create or replace function source_of_run_event(p_source text) returns text
language sql immutable parallel safe as $$
  select case when p_source in ('executor', 'scheduler', 'api') then 'workflow' else p_source end
$$;
