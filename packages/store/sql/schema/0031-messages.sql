-- Events that tell of findings are only sent if one is at least this severe; "": all.
alter table webhook_subscriptions add column min_severity text not null default ''
  check (min_severity in ('', 'info', 'low', 'medium', 'high', 'critical'));
-- The text of a message; "": the usual one.
alter table webhook_subscriptions add column template text not null default '';
-- Whether a mail about the end of a job has the report of the job attached.
alter table webhook_subscriptions add column report boolean not null default false;
