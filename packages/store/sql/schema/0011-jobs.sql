-- The job whose runs a job retries. A retry is a new job, so that the first results stay as they are.
alter table jobs add column retry_of bigint references jobs on delete set null;
create index jobs_retries on jobs (retry_of) where retry_of is not null;

-- How the runs of a job ended, counted once after the last of them: {completed, failed, cancelled, clean, partial,
-- nothing_done, ended_at}. Null: a run is open, or the job has not been counted yet.
alter table jobs add column final_counts jsonb;
create index jobs_uncounted on jobs (id) where final_counts is null;

-- From this time any master may continue a change of the priority that has not reached all waiting runs; the master that
-- works on it moves the time on. Null: there is no such change.
alter table jobs add column priority_due_at timestamptz;
create index jobs_priority_due on jobs (priority_due_at) where priority_due_at is not null;
