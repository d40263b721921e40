-- Saves assets with their events and sightings. p_run is null for an import without a run.
create or replace function import_assets(p_workspace text, p_items jsonb, p_source text, p_run runs, p_scope_id bigint)
returns jsonb
language plpgsql as $$
declare
  v_saved saved_record[];
begin
  select array_agg(s) into v_saved from save_assets(p_workspace, p_items, (p_run).id, p_source) s;
  perform log_record_events('asset.discovered', 'asset', p_workspace, p_run,
    array(select asset_event_data(a, p_run, s.reopened) from unnest(v_saved) s join assets a on a.id = s.id
          where s.created or s.reopened order by a.id));
  perform log_record_events('asset.updated', 'asset', p_workspace, p_run,
    array(select asset_event_data(a, p_run, false) from unnest(v_saved) s join assets a on a.id = s.id
          where s.changed and not s.reopened order by a.id));
  if (p_run).id is not null then
    perform record_sightings(p_run, p_scope_id, 'asset', array_agg(a.id), array_agg(asset_seen(a)))
    from unnest(v_saved) s join assets a on a.id = s.id;
  end if;
  return import_counts(v_saved, jsonb_array_length(p_items));
end $$;
