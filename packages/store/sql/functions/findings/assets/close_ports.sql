-- Marks the findings at ports of p_ids, assets that a scan has marked as gone, as gone too: nothing is served at a closed
-- port, so the modules for it have nothing to do and would leave them as not tested. A finding that the same run or a later
-- one saw, or no run, stays as it is.
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
begin
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
