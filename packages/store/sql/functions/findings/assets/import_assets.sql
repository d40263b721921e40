-- Saves assets with their events and sightings. p_run is null for an import without a run.
create or replace function import_assets(p_workspace text, p_items jsonb, p_source text, p_run runs, p_scope_id bigint)
returns jsonb
language plpgsql
-- planner: lookup
as $$
declare
  v_saved saved_record[];
  v_new bigint[];
  v_changed bigint[];
  v_reopened bigint[];
begin
  select array_agg(s) into v_saved from save_assets(p_workspace, p_items, (p_run).id, p_source) s;
  select array_agg(s.id) filter (where s.created), array_agg(s.id) filter (where s.changed and not s.reopened),
    coalesce(array_agg(s.id) filter (where s.reopened), '{}')
  into v_new, v_changed, v_reopened from unnest(v_saved) s;
  perform log_record_events('asset.discovered', 'asset', p_workspace, p_run,
    array(select asset_event_data(a, p_run, a.id = any(v_reopened)) from assets a
          where a.id = any(v_new || v_reopened) order by a.id));
  perform log_record_events('asset.updated', 'asset', p_workspace, p_run,
    array(select asset_event_data(a, p_run, false) from assets a where a.id = any(v_changed) order by a.id));
  if (p_run).id is not null then
    perform record_sightings(p_run, p_scope_id, 'asset', array_agg(a.id), array_agg(asset_seen(a)))
    from assets a where a.id = any(array(select s.id from unnest(v_saved) s));
  end if;
  return import_counts(v_saved, jsonb_array_length(p_items));
end $$;
