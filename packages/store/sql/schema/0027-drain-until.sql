-- Until then a stopped worker waits for its runs before its program ends; null: it ends now, as after SIGTERM.
alter table workers add column drain_until timestamptz;
