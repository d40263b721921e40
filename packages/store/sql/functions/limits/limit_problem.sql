-- Why a run has to wait for others, for people: a run of the same workflow on its target works, or a limit has no share
-- left. Null: it may start.
create or replace function limit_problem(p_run_id bigint) returns text
language sql stable as $$
  select coalesce(twin_problem(p_run_id), (select problem from limit_problems(array[p_run_id])))
$$;
