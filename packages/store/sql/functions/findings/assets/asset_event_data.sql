-- The data of an asset's events, as JSON text.
create or replace function asset_event_data(a assets, p_run runs, p_reopened boolean) returns text
language sql stable as $$
  select json_build_object(
    'id', a.id, 'workspace', a.workspace, 'asset_type', a.asset_type, 'asset_value', a.asset_value, 'url', a.url,
    'host_ip', a.host_ip, 'scheme', a.scheme, 'status_code', a.status_code, 'title', a.title,
    'technologies', a.technologies, 'open_ports', a.open_ports, 'source', a.source, 'reopened', p_reopened,
    'run_uuid', coalesce((p_run).run_uuid::text, ''), 'workflow', coalesce((p_run).workflow_name, ''),
    'target', coalesce(without_password((p_run).target), ''))::text
$$;
