-- Trigger: records a change of a finding and keeps the newest 100 by scans and the newest 1,000 by hand. The setting
-- scanfarm.changed_by names who changed it by hand, and scanfarm.changing_run the run that saw it, or whose scan did not.
create or replace function record_finding_change() returns trigger
language plpgsql
-- planner: lookup
as $$
declare
  v_by text := coalesce(current_setting('scanfarm.changed_by', true), '');
begin
  insert into finding_changes (vulnerability_id, changes, changed_by, run_id)
  select new.id, jsonb_object_agg(o.key, jsonb_build_object('from', o.value, 'to', n.value)), v_by,
         nullif(current_setting('scanfarm.changing_run', true), '')::bigint
  from jsonb_each(jsonb_build_object('state', old.state, 'seen', old.seen, 'seen_reason', old.seen_reason,
                                     'verdict', old.verdict, 'reason', old.reason, 'until', old.until,
                                     'back', old.back_at is not null, 'severity', old.severity,
                                     'confidence', old.confidence, 'tags', old.tags, 'assignee', old.assignee,
                                     'ticket', old.ticket)) o
  join jsonb_each(jsonb_build_object('state', new.state, 'seen', new.seen, 'seen_reason', new.seen_reason,
                                     'verdict', new.verdict, 'reason', new.reason, 'until', new.until,
                                     'back', new.back_at is not null, 'severity', new.severity,
                                     'confidence', new.confidence, 'tags', new.tags, 'assignee', new.assignee,
                                     'ticket', new.ticket)) n on n.key = o.key
  where o.value <> n.value;
  delete from finding_changes where vulnerability_id = new.id and (changed_by = '') = (v_by = '') and id <= (
    select id from finding_changes where vulnerability_id = new.id and (changed_by = '') = (v_by = '')
    order by id desc offset case v_by when '' then 100 else 1000 end limit 1);
  return null;
end $$;
