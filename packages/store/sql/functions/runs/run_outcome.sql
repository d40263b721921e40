-- The outcome of an ended run. A test compares the rule with outcomeOf in contracts.
create or replace function run_outcome(p_status text, p_tally jsonb) returns text
language sql immutable parallel safe as $$
  select case when not coalesce((p_tally ->> 'worked')::boolean, false) then 'nothing_done'
              when p_status = 'completed' and tally_count(p_tally, 'failedSteps')
                + tally_count(p_tally, 'leftOutModules') + tally_count(p_tally, 'leftOutSteps') = 0 then 'clean'
              else 'partial' end
$$;
