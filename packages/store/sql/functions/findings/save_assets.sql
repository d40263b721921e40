-- Saves assets under their identity; the rules are those of save_vulnerabilities.
create or replace function save_assets(p_workspace text, p_items jsonb, p_run_id bigint, p_source text)
returns setof saved_record
language sql as $$
  with items as materialized (
    select i.*, asset_hash(p_workspace, i.asset_value, i.url) as hash
    from rows from (jsonb_to_recordset(p_items) as (
        asset_type text, asset_value text, url text, host_ip text, scheme text, status_code int, title text,
        content_type text, technologies jsonb, open_ports jsonb, dns_records jsonb, remarks jsonb, raw_json_data text))
      with ordinality as i(asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type,
        technologies, open_ports, dns_records, remarks, raw_json_data, n)
  ), known as (
    insert into assets as a (workspace, asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type,
      technologies, open_ports, dns_records, remarks, raw_json_data, asset_hash, source, first_run, last_run)
    select p_workspace, i.asset_type, i.asset_value, i.url, i.host_ip, i.scheme, i.status_code, i.title, i.content_type,
      text_array(i.technologies), text_array(i.open_ports), text_array(i.dns_records), text_array(i.remarks), i.raw_json_data,
      i.hash, p_source, p_run_id, p_run_id
    from (select distinct on (hash) * from items order by hash, n desc) i
    order by i.hash
    on conflict (asset_hash) do update
    set (asset_type, host_ip, scheme, title, content_type) = (
        coalesce(nullif(excluded.asset_type, ''), a.asset_type),
        coalesce(nullif(excluded.host_ip, ''), a.host_ip),
        coalesce(nullif(excluded.scheme, ''), a.scheme),
        coalesce(nullif(excluded.title, ''), a.title),
        coalesce(nullif(excluded.content_type, ''), a.content_type)),
      (technologies, open_ports, dns_records, remarks) = (
        case when cardinality(excluded.technologies) = 0 then a.technologies else excluded.technologies end,
        case when cardinality(excluded.open_ports) = 0 then a.open_ports else excluded.open_ports end,
        case when cardinality(excluded.dns_records) = 0 then a.dns_records else excluded.dns_records end,
        case when cardinality(excluded.remarks) = 0 then a.remarks else excluded.remarks end),
      status_code = coalesce(nullif(excluded.status_code, 0), a.status_code),
      raw_json_data = coalesce(nullif(excluded.raw_json_data, ''), a.raw_json_data),
      source = excluded.source,
      updated_at = case
        when a.state = 'gone'
          or (a.asset_type, a.host_ip, a.scheme, a.title, a.content_type) is distinct from (
            coalesce(nullif(excluded.asset_type, ''), a.asset_type),
            coalesce(nullif(excluded.host_ip, ''), a.host_ip),
            coalesce(nullif(excluded.scheme, ''), a.scheme),
            coalesce(nullif(excluded.title, ''), a.title),
            coalesce(nullif(excluded.content_type, ''), a.content_type))
          or (a.technologies, a.open_ports, a.dns_records, a.remarks) is distinct from (
            case when cardinality(excluded.technologies) = 0 then a.technologies else excluded.technologies end,
            case when cardinality(excluded.open_ports) = 0 then a.open_ports else excluded.open_ports end,
            case when cardinality(excluded.dns_records) = 0 then a.dns_records else excluded.dns_records end,
            case when cardinality(excluded.remarks) = 0 then a.remarks else excluded.remarks end)
          or a.status_code <> coalesce(nullif(excluded.status_code, 0), a.status_code)
        then now() else a.updated_at end,
      state = 'open', gone_at = null,
      opened_at = case a.state when 'gone' then now() else a.opened_at end,
      last_seen = greatest(a.last_seen, now()),
      times_seen = a.times_seen + case when a.last_run = excluded.last_run then 0 else 1 end,
      last_run = greatest(a.last_run, excluded.last_run),
      first_run = a.first_run
    returning a.id, a.xmax = 0 as created, a.updated_at = now() as changed, a.opened_at = now() as opened
  )
  select k.id, k.created, not k.created and k.changed, not k.created and k.opened, false from known k
$$;
