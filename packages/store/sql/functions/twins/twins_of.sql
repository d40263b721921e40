-- The runs in a status among those of one twin_key.
create or replace function twins_of(p_key bigint, p_status text) returns setof bigint
language sql stable
-- planner: walk
set enable_seqscan = off set enable_hashjoin = off set enable_nestloop = on set enable_mergejoin = off set jit = off
as $$
  select id from runs
  where twin_key(workflow_name, workspace, target) = p_key and completed_at is null and batch is null
    and status || '' = p_status
$$;
