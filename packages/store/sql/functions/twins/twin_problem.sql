-- The run that works now and whose end a run has to wait for, because its workflow works once at a time on its target, for
-- people; null: there is none.
create or replace function twin_problem(p_run_id bigint) returns text
language sql stable as $$
  select format('run %s of the same workflow works on its target', t.run_uuid)
  from runs r
  cross join lateral twins_of(r.workflow_name, r.workspace, r.target, 'running') as twin(id)
  join runs t on t.id = twin.id
  where r.id = p_run_id and r.batch is null and t.id <> r.id and works_once(p_run_id)
  limit 1
$$;
