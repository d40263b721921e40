-- Jobs of equal priority share the workers.

-- Who submitted it: "token:NAME" or "user:NAME"; "": a trigger.
alter table jobs add column submitted_by text collate "C" not null default '';

-- Owners, also "workspace:NAME", whose share is not 1.
create table shares (
  owner text collate "C" primary key,
  weight int not null check (weight between 1 and 1000)
);

-- By job, so that the dispatcher takes from each.
drop index outbox_queue;
create index outbox_queue on outbox (class, rank, job_no, run_id)
  where ready and sent_at is null and run_mode = 'distributed';
