-- What an operator wants a process to do. stopped: end its program after the runs under way, which cannot be taken back.
alter table workers add column wanted text not null default 'running' check (wanted in ('running', 'paused', 'stopped'));
