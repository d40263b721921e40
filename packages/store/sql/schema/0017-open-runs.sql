-- A run of the job that was open when settle_jobs looked last; no run with a lower id is open. Null: not looked for yet.
alter table jobs add column open_run bigint;
