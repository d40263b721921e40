-- Saves findings with their events and sightings. p_run is null for an import without a run. p_import identifies an import
-- that saves its findings in parts, which p_part numbers.
create or replace function import_vulnerabilities(p_workspace text, p_items jsonb, p_source text, p_run runs,
  p_scope_id bigint, p_import uuid, p_part int)
returns jsonb
language plpgsql
-- planner: lookup
as $$
declare
  v_saved saved_record[];
  v_new bigint[];
  v_known bigint[];
  v_reopened bigint[];
begin
  lock table finding_rules in access share mode;
  select array_agg(s) into v_saved
  from save_vulnerabilities(p_workspace, p_items, (p_run).id, p_source, p_import, p_part) s;
  select array_agg(s.id) filter (where s.created), array_agg(s.id) filter (where not s.created),
    coalesce(array_agg(s.id) filter (where s.reopened), '{}')
  into v_new, v_known, v_reopened from unnest(v_saved) s;
  perform log_record_events('vuln.found', 'vulnerability', p_workspace, p_run,
    array(select finding_event_data(v, p_run, v.id = any(v_reopened)) from vulnerabilities v
          where v.id = any(v_new || v_reopened) and (v.state = 'open' or v.id = any(v_reopened)) order by v.id));
  perform log_record_events('vuln.back', 'vulnerability', p_workspace, p_run,
    array(select finding_event_data(v, p_run, true) from vulnerabilities v
          where v.id = any(v_known) and v.back_at = now() order by v.id));
  if (p_run).id is not null then
    perform record_sightings(p_run, p_scope_id, 'vulnerability', array_agg(v.id), array_agg(
      finding_seen(v) || jsonb_build_object('severity', v.scan_severity, 'tags', v.scan_tags)))
    from vulnerabilities v where v.id = any(v_new || v_known);
  end if;
  return import_counts(v_saved, jsonb_array_length(p_items));
end $$;
