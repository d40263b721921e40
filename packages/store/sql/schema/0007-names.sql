alter table cloud_infras rename column poked to recheck;
alter table cloud_instances rename column asked_at to create_started_at;
