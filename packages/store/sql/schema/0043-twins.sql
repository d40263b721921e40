-- requires: twin_key
-- Runs of one workflow on one target in one workspace: one of them works at a time.

-- Claims lock the rows of what they start, so that they never start two of the same. Advisory locks could be held by each
-- login.
create table twin_locks (
  id int primary key
);
insert into twin_locks select generate_series(0, 1023);

-- Conditions on the status would let statements use other indexes.
create index runs_twins on runs (twin_key(workflow_name, workspace, target)) where completed_at is null and batch is null;
