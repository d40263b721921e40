-- Marks the findings and URLs at ports of p_ids, assets that a scan has marked as gone, as gone too: nothing is served at a
-- closed port, so the modules for it have nothing to do and would leave them as they are. What the same run or a later one
-- saw, or no run, stays as it is, and a URL that an import is changing.
create or replace function close_ports(p_scan scans, p_ids bigint[]) returns void
language plpgsql as $$
declare
  v_ids bigint[] := array(
    select v.id
    from (select distinct workspace, host_of(asset_value) as host, endpoint_of(asset_value) as place
          from assets where id = any(p_ids) and asset_type = 'port' and state = 'gone') p
      join vulnerabilities v on v.workspace = p.workspace and strpos(lower(v.asset_value), p.host) > 0
        and endpoint_of(v.asset_value) = p.place
    where v.seen <> 'gone' and v.asset_type <> 'file');
  v_urls bigint[];
begin
  v_urls := array(
    select a.id
    from (select distinct workspace, endpoint_of(asset_value) as place
          from assets where id = any(p_ids) and asset_type = 'port' and state = 'gone') p
      join assets a on a.workspace = p.workspace and a.url <> '' and endpoint_of(a.url) = p.place
    where a.state = 'open' and a.asset_type <> 'port' order by a.asset_hash for update of a skip locked);
  v_urls := array(
    select asset_id from asset_sightings where asset_id = any(v_urls) order by asset_id for update skip locked);
  v_urls := array(select record_id from sightings where kind = 'asset' and record_id = any(v_urls)
                  group by record_id having max(run_id) < p_scan.run_id);
  update asset_sightings set content_hash = null where asset_id = any(v_urls);
  update assets set state = 'gone', gone_at = now(),
    updated_at = greatest(updated_at, (select completed_at from runs where id = p_scan.run_id))
  where id = any(v_urls);

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
