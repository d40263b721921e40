-- The scopes that a run keeps to: of its job and of its workspace.
create or replace function scopes_of_run(p_scope_no bigint, p_workspace text) returns bigint[]
language sql stable as $$
  select array(
    select p_scope_no where p_scope_no is not null
    union select scope_no from scope_workspaces where workspace = p_workspace
    order by 1)
$$;
