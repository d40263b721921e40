-- The end of the hour up to which findings.digest has been written.
alter table farm add column digest_until timestamptz not null default date_trunc('hour', now());
-- When the last findings.reminder was written.
alter table farm add column reminded_at timestamptz not null default now();
