-- The fields of an asset that comparisons of runs show.
create or replace function asset_seen(a assets) returns jsonb
language sql immutable as $$
  select jsonb_build_object('asset_type', a.asset_type, 'asset_value', a.asset_value, 'url', a.url, 'host_ip', a.host_ip,
    'status_code', a.status_code, 'title', a.title, 'technologies', to_jsonb(a.technologies),
    'open_ports', to_jsonb(a.open_ports), 'dns_records', to_jsonb(a.dns_records))
$$;
