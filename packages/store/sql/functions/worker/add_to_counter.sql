-- Adds to a counter of the workspace of a run that the caller owns, or sets it to 0 if p_add is null. Returns the new
-- value.
create or replace function worker.add_to_counter(p_secret text, p_run_id bigint, p_attempt int, p_workspace text,
                                                 p_name text, p_add bigint)
returns bigint
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: walk
as $$
declare
  v_value bigint;
begin
  perform 1 from runs
  where id = p_run_id and attempt = p_attempt and status = 'running' and workspace = p_workspace
    and worker_id = any(own_workers(p_secret))
  for share;
  if not found then
    return null;
  end if;
  insert into workspace_counters as c (workspace, name, value) values (p_workspace, p_name, coalesce(p_add, 0))
  on conflict (workspace, name) do update set value = case when p_add is null then 0 else c.value + p_add end
  returning value into v_value;
  return v_value;
end $$;
