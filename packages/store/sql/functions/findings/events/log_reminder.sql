-- Writes findings.reminder: how many findings are open, and for how many days the oldest one is, by severity.
create or replace function log_reminder(p_today timestamptz) returns void
language sql as $$
  with open as (
    select severity, count(*) as count, floor(extract(epoch from now() - min(opened_at)) / 86400)::int as days
    from vulnerabilities where state = 'open' group by severity
  )
  select insert_event(jsonb_build_object(
    'topic', 'findings.reminder', 'event_id', 'evt_reminder_' || to_char(p_today at time zone 'UTC', 'YYYYMMDD'),
    'name', 'findings.reminder', 'source', 'scheduler', 'data_type', 'reminder', 'workspace', '', 'run_id', '',
    'workflow_name', '', 'data', jsonb_build_object('open', jsonb_object_agg(severity, count),
      'oldest_days', jsonb_object_agg(severity, days), 'path', '/findings')::text),
    not event_is_wanted('findings.reminder'), '')
  from open having count(*) > 0
$$;
