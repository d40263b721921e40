-- The workspace of a run that the process with this secret runs; null: it runs another attempt, or none. Refuses
-- p_workspace, of which records are to be read, if it is another one.
create or replace function workspace_of_owned(p_secret text, p_run_id bigint, p_attempt int, p_workspace text)
returns text
language plpgsql stable as $$
declare
  v_workspace text;
begin
  select workspace into v_workspace from runs
  where id = p_run_id and attempt = p_attempt and status = 'running' and worker_id = any(own_workers(p_secret));
  if v_workspace <> p_workspace then
    raise insufficient_privilege using message =
      format('a run reads records of its own workspace only, which is %s, not %s', v_workspace, p_workspace);
  end if;
  return v_workspace;
end $$;
