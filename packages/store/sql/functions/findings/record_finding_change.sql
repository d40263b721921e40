-- Trigger: records a change of a finding and keeps the newest 100. The setting scanfarm.changed_by names who changed it
-- by hand, and scanfarm.changing_run the run that saw it, or whose scan did not.
create or replace function record_finding_change() returns trigger
language plpgsql as $$
begin
  insert into finding_changes (vulnerability_id, changes, changed_by, run_id)
  select new.id, jsonb_object_agg(o.key, jsonb_build_object('from', o.value, 'to', n.value)),
         coalesce(current_setting('scanfarm.changed_by', true), ''),
         nullif(current_setting('scanfarm.changing_run', true), '')::bigint
  from jsonb_each(jsonb_build_object('state', old.state, 'severity', old.severity, 'confidence', old.confidence,
                                     'tags', old.tags)) o
  join jsonb_each(jsonb_build_object('state', new.state, 'severity', new.severity, 'confidence', new.confidence,
                                     'tags', new.tags)) n on n.key = o.key
  where o.value <> n.value;
  delete from finding_changes where vulnerability_id = new.id and id <= (
    select id from finding_changes where vulnerability_id = new.id order by id desc offset 100 limit 1);
  return null;
end $$;
