-- Marks the records of a scope as gone that a scan did not see. If the scan has named its hosts, only records of
-- these hosts and of hosts with a sighting are marked. Records at p_untested stay as they are.
-- Records are locked before sightings, in the order of identities, as imports do.
create or replace function close_unseen(p_scan scans, p_untested untested_place[]) returns void
language plpgsql as $$
declare
  v_ids bigint[];
  v_hosts text[];
begin
  if p_scan.kind = 'asset' then
    if p_scan.names_hosts then
      v_hosts := array(
        select host from reached_hosts where not failed and (run_id, attempt, scope_id, kind)
          = (p_scan.run_id, p_scan.attempt, p_scan.scope_id, p_scan.kind)
        union
        select host_of(coalesce(nullif(a.url, ''), a.asset_value)) from sightings s join assets a on a.id = s.record_id
        where s.scope_id = p_scan.scope_id and s.kind = 'asset'
          and (s.run_id, s.attempt) = (p_scan.run_id, p_scan.attempt));
    end if;
    select array_agg(s.record_id) into v_ids from sightings s left join assets a on a.id = s.record_id
    where s.scope_id = p_scan.scope_id and s.kind = 'asset' and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
      and (v_hosts is null or host_of(coalesce(nullif(a.url, ''), a.asset_value)) in (select unnest(v_hosts)));
  else
    if p_scan.names_hosts then
      v_hosts := array(
        select host from reached_hosts where not failed and (run_id, attempt, scope_id, kind)
          = (p_scan.run_id, p_scan.attempt, p_scan.scope_id, p_scan.kind)
        union
        select host_of(v.asset_value) from sightings s join vulnerabilities v on v.id = s.record_id
        where s.scope_id = p_scan.scope_id and s.kind = 'vulnerability'
          and (s.run_id, s.attempt) = (p_scan.run_id, p_scan.attempt));
    end if;
    select array_agg(s.record_id) into v_ids from sightings s left join vulnerabilities v on v.id = s.record_id
    where s.scope_id = p_scan.scope_id and s.kind = 'vulnerability'
      and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
      and (v_hosts is null or host_of(v.asset_value) in (select unnest(v_hosts)));
  end if;
  v_ids := array(select unnest(v_ids) except select id from untested_records(p_scan, p_untested));
  if v_ids = '{}' then
    return;
  end if;
  if p_scan.kind = 'asset' then
    perform 1 from assets where id = any(v_ids) order by asset_hash for update;
    perform 1 from asset_sightings where asset_id = any(v_ids) order by asset_id for update;
  else
    perform 1 from vulnerabilities where id = any(v_ids) order by finding_hash, id for update;
    perform 1 from finding_sightings where finding_id = any(v_ids) order by finding_id for update;
  end if;
  with old as (
    delete from sightings
    where scope_id = p_scan.scope_id and kind = p_scan.kind and record_id = any(v_ids)
      and (run_id, attempt) < (p_scan.run_id, p_scan.attempt)
    returning record_id, run_id
  )
  select array_agg(record_id) into v_ids from old o
  where not exists (select from sightings s
                    where s.kind = p_scan.kind and s.record_id = o.record_id and s.scope_id <> p_scan.scope_id
                      and s.run_id > o.run_id);
  if p_scan.kind = 'asset' then
    -- An import of what was known sees a record again.
    update asset_sightings set content_hash = null where asset_id = any(v_ids);
    -- The scan that saw it has ended then: its target has not changed since.
    update assets a
    set state = 'gone', gone_at = now(),
        updated_at = greatest(a.updated_at, (select completed_at from runs where id = p_scan.run_id))
    where id = any(v_ids) and state = 'open';
    perform close_ports(p_scan, v_ids);
  else
    update finding_sightings set content_hash = null where finding_id = any(v_ids);
    update vulnerabilities v
    set seen = 'gone', seen_reason = format('%s %s of %s reached %s in run %s',
      case v.source when 'nmap' then t.tool || ' script' when 'workflow' then 'check' else t.tool || ' check' end,
      coalesce(nullif(v.vuln_info, ''), v.vuln_title), scan_name(p_scan),
      case v.asset_type when 'file' then file_of(v.asset_value) when 'package' then v.asset_value else host_of(v.asset_value) end,
      p_scan.run_id)
    from (select source, tool_of(p_scan.run_id, source) as tool
          from (select distinct source from vulnerabilities where id = any(v_ids)) s) t
    where v.id = any(v_ids) and v.seen <> 'gone' and t.source = v.source;
  end if;
end $$;
