-- The events of the end of a job count the findings that its runs changed.
create index vulnerabilities_first_run on vulnerabilities (first_run) where first_run is not null;
create index finding_changes_run on finding_changes (run_id) where run_id is not null;

alter table webhook_subscriptions drop constraint webhook_subscriptions_format_check,
  add constraint webhook_subscriptions_format_check check (format in ('json', 'slack', 'discord', 'teams', 'mail'));
