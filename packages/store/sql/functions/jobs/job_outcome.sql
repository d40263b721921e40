-- The outcome of a job from its final counts, as outcomeOf has it for a run. Null: it has not ended. A job
-- without runs had nothing to do.
create or replace function job_outcome(p_final_counts jsonb, p_target_count int) returns text
language sql immutable as $$
  select case when p_final_counts is null then null
              when p_target_count = 0 then 'clean'
              when (p_final_counts ->> 'nothing_done')::int = p_target_count then 'nothing_done'
              when (p_final_counts ->> 'clean')::int = p_target_count then 'clean' else 'partial' end
$$;
