-- Saves findings with their events and sightings. p_run is null for an import without a run.
create or replace function import_vulnerabilities(p_workspace text, p_items jsonb, p_source text, p_run runs,
  p_scope_id bigint)
returns jsonb
language plpgsql as $$
declare
  v_saved saved_record[];
begin
  select array_agg(s) into v_saved from save_vulnerabilities(p_workspace, p_items, (p_run).id, p_source) s;
  perform log_record_events('vuln.found', 'vulnerability', p_workspace, p_run,
    array(select finding_event_data(v, p_run, s.reopened) from unnest(v_saved) s join vulnerabilities v on v.id = s.id
          where s.created or s.reopened order by v.id));
  if (p_run).id is not null then
    perform record_sightings(p_run, p_scope_id, 'vulnerability', array_agg(v.id), array_agg(finding_seen(v)))
    from unnest(v_saved) s join vulnerabilities v on v.id = s.id;
  end if;
  return import_counts(v_saved);
end $$;
