-- The records that earlier scans of the same scope saw, and that are at p_places. Those are what the scan did not test.
create or replace function untested_records(p_scan scans, p_places untested_place[]) returns table (id bigint, silent boolean, reason text)
language sql stable as $$
  with known as (
    select s.record_id as id, v.asset_value as place, v.asset_type, v.vuln_info as check_id, v.scan_tags as tags
    from sightings s join vulnerabilities v on v.id = s.record_id
    where p_scan.kind = 'vulnerability' and s.kind = 'vulnerability' and s.scope_id = p_scan.scope_id
      and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
    union all
    select s.record_id, coalesce(nullif(a.url, ''), a.asset_value), a.asset_type, '', '{}'
    from sightings s join assets a on a.id = s.record_id
    where p_scan.kind = 'asset' and s.kind = 'asset' and s.scope_id = p_scan.scope_id
      and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
  )
  select distinct on (k.id) k.id, u.silent, format('%s in run %s did not %s %s%s: %s', scan_name(p_scan), p_scan.run_id,
    case when u.silent then 'reach' else 'test' end, coalesce('check ' || nullif(u.check_id, '') || ' at ', ''),
    coalesce(replace(u.place, ':*', ':' || at.port), u.place), u.reason)
  from known k
    cross join lateral (select host_of(k.place) as place, null::int as port where k.asset_type <> 'file'
                        union all select endpoint_of(k.place), null where k.asset_type <> 'file'
                        union all select regexp_replace(e, ':[0-9]+(/udp)?$', ':*\1'), substring(e from ':([0-9]+)(?:/udp)?$')::int
                        from endpoint_of(k.place) e where k.asset_type <> 'file'
                        union all select file_of(k.place), null where k.asset_type = 'file'
                        -- name@version, or file:name@version
                        union all select array_to_string(parts[:n], ':'), null
                        from string_to_array(k.place, ':') parts, generate_series(1, cardinality(parts) - 1) n
                        where k.asset_type = 'package'
                        union all select lower(substring(k.place from '([^:@]+)@[^@]*$')), null where k.asset_type = 'package') at
    join unnest(p_places) u on u.place = at.place and (u.ports is null or u.ports @> at.port)
  where cardinality(p_places) > 0 and (u.check_id = '' or u.check_id = k.check_id or u.check_id = any(k.tags))
  order by k.id, u.silent desc, u.check_id
$$;
