-- The last jobs of each schedule.
create index jobs_schedule on jobs (schedule_id, id) where schedule_id <> '';
