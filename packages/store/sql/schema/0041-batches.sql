-- Runs that execute items of a loop are found from the step of the loop, and events name the run of the loop.

-- The step of the loop in the last attempt.
alter table jobs add column loop_step uuid;
