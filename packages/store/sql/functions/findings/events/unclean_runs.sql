-- The first runs of a job, in all workspaces or in one, that did not do all of their work, those that did nothing first.
-- The reason goes without the name of the step: messages have little room.
create or replace function unclean_runs(p_job_no bigint, p_workspace text, p_limit int) returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('target', left(without_password(target), 300), 'status', status,
           'outcome', outcome,
           'reason', left(regexp_replace(coalesce(nullif(error_message, ''), tally -> 'reasons' ->> 0, ''),
                                         '^step .{1,200}? failed: ', ''), 300))
           order by outcome, id), '[]')
  from (select target, status, outcome, error_message, tally, id from runs
        where job_no = p_job_no and outcome in ('nothing_done', 'partial')
          and (p_workspace is null or workspace = p_workspace)
        order by outcome, id limit p_limit) r
$$;
