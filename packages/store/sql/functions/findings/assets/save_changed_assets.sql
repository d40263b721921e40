-- Saves assets under their identity, but for items whose content is one of p_known; the rules are those of
-- save_changed_findings.
create or replace function save_changed_assets(p_workspace text, p_items jsonb, p_run_id bigint, p_source text,
  p_known bytea[])
returns setof saved_record
language sql
-- planner: batch
as $$
  with items as materialized (
    select i.*, decode(i.content, 'hex') as content_hash, asset_hash(p_workspace, i.asset_value, i.url) as hash
    from rows from (jsonb_to_recordset(p_items) as (
        asset_type text, asset_value text, url text, host_ip text, scheme text, status_code int, title text,
        content_type text, technologies text[], open_ports text[], dns_records text[], remarks text[], raw_json_data text,
        content text))
      with ordinality as i(asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type,
        technologies, open_ports, dns_records, remarks, raw_json_data, content, n)
    where i.content is null or decode(i.content, 'hex') not in (select unnest(p_known))
  ), distinct_items as materialized (
    select distinct on (hash) * from items order by hash, n desc
  ), known as (
    insert into assets as a (workspace, asset_type, asset_value, url, host_ip, scheme, status_code, title, content_type,
      technologies, open_ports, dns_records, remarks, raw_json_data, page_hash, asset_hash, source, first_run)
    select p_workspace, i.asset_type, i.asset_value, i.url, i.host_ip, i.scheme, i.status_code, i.title, i.content_type,
      coalesce(i.technologies, '{}'), coalesce(i.open_ports, '{}'), coalesce(i.dns_records, '{}'),
      coalesce(i.remarks, '{}'), i.raw_json_data, page_hash(i.raw_json_data), i.hash, p_source, p_run_id
    from distinct_items i
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
      page_hash = coalesce(excluded.page_hash, a.page_hash),
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
          or a.page_hash <> excluded.page_hash
        then now() else a.updated_at end,
      state = 'open', gone_at = null,
      opened_at = case a.state when 'gone' then now() else a.opened_at end
    returning a.id, a.asset_hash as hash, a.xmax = 0 as created, a.updated_at = now() as changed, a.opened_at = now() as opened
  ), seen as (
    insert into asset_sightings as t (asset_id, content_hash, last_seen, times_seen, last_run)
    select k.id, i.content_hash, now(), 1, p_run_id from known k join distinct_items i on i.hash = k.hash order by k.id
    on conflict (asset_id) do update
    set content_hash = excluded.content_hash, last_seen = greatest(t.last_seen, now()),
      times_seen = t.times_seen + case when t.last_run = p_run_id then 0 else 1 end,
      last_run = greatest(t.last_run, p_run_id)
  )
  select k.id, k.created, not k.created and k.changed, not k.created and k.opened, false from known k
$$;
