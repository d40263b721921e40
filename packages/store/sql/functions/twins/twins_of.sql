-- The runs in a status, queued or running, of one workflow on one target in one workspace. Those older than all that are
-- queued or running are not read; the names of these statuses sort last.
create or replace function twins_of(p_workflow text, p_workspace text, p_target text, p_status text)
returns setof bigint
language sql stable
-- planner: walk
as $$
  select id from runs
  where target = p_target
    and (target, id) >= (p_target, least((select id from runs where status >= 'queued' order by status, id limit 1),
                                         (select id from runs where status >= 'running' order by status, id limit 1)))
    and workflow_name || '' = p_workflow and workspace || '' = p_workspace
    and completed_at is null and batch is null and status || '' = p_status
$$;
