-- Jobs of mode delta run only what is new, changed or was not seen for long.

-- {max_age, full_every, turn, full} of a job of mode delta; null: it runs all targets.
alter table jobs add column delta jsonb;
-- It may have nothing to run.
alter table jobs drop constraint jobs_target_count_check;
alter table jobs add constraint jobs_target_count check (target_count > 0 or delta is not null);
-- Targets of its request that it left out because nothing changed; they are refusals of the place delta.
alter table jobs add column left_out int not null default 0;
-- What another attempt of its runs takes over; null: as the workflow says.
alter table jobs add column resume text check (resume in ('steps', 'none'));
-- Finds the turn of the next job of mode delta.
create index jobs_delta on jobs (workflow_name, schedule_id, id) where delta is not null;
