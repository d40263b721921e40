-- Marks the findings and URLs at ports of p_ids, assets that a scan has marked as gone, as gone too, and takes the ports from
-- the assets of their hosts: nothing is served at a closed port, so the modules for it have nothing to do and would leave all
-- this as it is. What the same run or a later one saw, or no run, stays as it is, and an asset that an import is changing.
create or replace function close_ports(p_scan scans, p_ids bigint[]) returns void
language plpgsql as $$
declare
  v_workspaces text[];
  v_hosts text[];
  v_places text[];
  v_ids bigint[];
  v_urls bigint[];
  v_completed timestamptz := (select completed_at from runs where id = p_scan.run_id);
begin
  select array_agg(workspace), array_agg(host), array_agg(place) into v_workspaces, v_hosts, v_places
  from (select distinct workspace, host_of(asset_value) as host, endpoint_of(asset_value) as place
        from assets where id = any(p_ids) and asset_type = 'port' and state = 'gone') p;
  if v_places is null then
    return;
  end if;
  v_ids := array(
    select a.id
    from unnest(v_workspaces, v_places) p(workspace, place)
      join assets a on a.workspace = p.workspace and a.url <> '' and endpoint_of(a.url) = p.place
    union all
    select a.id
    from unnest(v_workspaces, v_hosts) p(workspace, host)
      join assets a on a.workspace = p.workspace and a.open_ports <> '{}' and a.url = '' and host_of(a.asset_value) = p.host);
  v_ids := array(select id from assets where id = any(v_ids) and state = 'open' and asset_type <> 'port'
                 order by asset_hash for update skip locked);
  v_ids := array(
    select asset_id from asset_sightings where asset_id = any(v_ids) order by asset_id for update skip locked);
  v_urls := array(select record_id from sightings where kind = 'asset' and record_id = any(v_ids)
                  group by record_id having max(run_id) < p_scan.run_id);
  with closed as (
    update assets set state = 'gone', gone_at = now(), updated_at = greatest(updated_at, v_completed)
    where id = any(v_urls) and url <> ''
    returning id
  ), fewer as (
    update assets a set open_ports = f.ports, updated_at = greatest(updated_at, v_completed)
    from (select id, array(select port from unnest(open_ports) with ordinality o(port, n)
                           where (workspace, host_of(asset_value), host_of(asset_value) || ':' || port)
                             not in (select * from unnest(v_workspaces, v_hosts, v_places)) order by n) as ports
          from assets where id = any(v_ids) and url = '') f
    where a.id = f.id and a.open_ports <> f.ports
    returning a.id
  )
  update asset_sightings set content_hash = null
  where asset_id in (select id from closed union all select id from fewer);

  v_ids := array(
    select v.id
    from unnest(v_workspaces, v_hosts, v_places) p(workspace, host, place)
      join vulnerabilities v on v.workspace = p.workspace and strpos(lower(v.asset_value), p.host) > 0
        and endpoint_of(v.asset_value) = p.place
    where v.seen <> 'gone' and v.asset_type <> 'file');
  perform 1 from vulnerabilities where id = any(v_ids) order by finding_hash, id for update;
  perform 1 from finding_sightings where finding_id = any(v_ids) order by finding_id for update;
  v_ids := array(select record_id from sightings where kind = 'vulnerability' and record_id = any(v_ids)
                 group by record_id having max(run_id) < p_scan.run_id);
  update finding_sightings set content_hash = null where finding_id = any(v_ids);
  update vulnerabilities
  set seen = 'gone',
    seen_reason = format('%s in run %s found %s closed', scan_name(p_scan), p_scan.run_id, endpoint_of(asset_value))
  where id = any(v_ids);
end $$;
