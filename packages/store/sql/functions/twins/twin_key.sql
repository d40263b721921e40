-- The same for the runs of one workflow on one target in one workspace.
create or replace function twin_key(p_workflow text, p_workspace text, p_target text) returns bigint
language sql immutable parallel safe as $$
  select hashtextextended((p_workflow || E'\n' || p_workspace || E'\n' || p_target) collate "C", 0)
$$;
