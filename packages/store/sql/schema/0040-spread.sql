-- Loops whose items are executed by several workers.

-- The run whose loop the job executes; null for all other jobs. Such jobs, and their runs, are not listed.
alter table jobs add column parent_run bigint; -- refers to runs
-- Of the step of the loop.
alter table jobs add column loop_key text;
-- Where its state is in the artifact store.
alter table jobs add column loop_state text;
create index jobs_of_loops on jobs (parent_run) where parent_run is not null;

-- The first and the last item of a loop that the run executes; null for runs of other jobs.
alter table runs add column batch int[];
create index runs_of_loops on runs (workspace, status) where batch is not null;
