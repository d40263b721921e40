-- Programs of the manifest that a worker has: name, version and path of each.
alter table workers add column tools jsonb not null default '[]';
