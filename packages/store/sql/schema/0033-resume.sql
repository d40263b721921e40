-- Runs continue after the steps that earlier attempts have completed.

-- What the next attempt may take over: ResumePoint of contracts. Null: nothing.
alter table runs add column resume jsonb;
-- {runUuid, attempt} that executed the step; null: the attempt itself.
alter table steps add column taken_from jsonb;
-- For a retry, `from` of ResumePoint. Null: its runs begin at the start.
alter table jobs add column resume_from jsonb;
