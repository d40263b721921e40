-- The hash of the secret of the process that joined, which the functions of workers ask for. Processes of older versions
-- have none: they join again.
alter table workers add column secret_hash bytea;
create index workers_secret on workers (secret_hash);

-- Rows that masters lock, so that only one of them at a time does what the name says. Every login of the database could
-- hold an advisory lock.
create table locks (
  name text collate "C" primary key
);
insert into locks (name)
select unnest(array['reaper', 'series', 'scans', 'jobs', 'partitions', 'retention', 'cloud claim', 'cloud budget', 'fingerprints'])
union all select 'cloud binding ' || n from generate_series(0, 15) n;
