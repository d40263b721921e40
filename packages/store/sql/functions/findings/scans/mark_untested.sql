-- Marks the findings of a judged scan's scope that it neither saw nor closed: those of hosts that it did not reach, and at
-- places of p_untested that did not answer, as unreachable; others at p_untested, or all others if p_reason says why the
-- scan is incomplete, as not tested. A finding that another scope has seen since, or that an import is changing, stays as
-- it is. A reason stays while it is the same: it names the run since which the finding is not tested.
create or replace function mark_untested(p_scan scans, p_untested untested_place[], p_reason text) returns void
language plpgsql as $$
begin
  if p_scan.kind <> 'vulnerability' then
    return;
  end if;
  with untested as materialized (
    select v.id, coalesce(u.reason, scan_name(p_scan) || ' in run ' || p_scan.run_id || ': ' || p_reason,
                          format('%s in run %s did not reach %s', scan_name(p_scan), p_scan.run_id, host_of(v.asset_value))
             ) as reason,
      case when coalesce(u.silent, p_reason is null) then 'unreachable' else 'not_tested' end as seen
    from sightings s join vulnerabilities v on v.id = s.record_id
      left join untested_records(p_scan, p_untested) u on u.id = v.id
    where s.scope_id = p_scan.scope_id and s.kind = 'vulnerability' and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
      and v.seen <> 'gone' and not exists (
        select from sightings o where o.kind = s.kind and o.record_id = s.record_id and o.scope_id <> s.scope_id
          and o.run_id > s.run_id)
    order by v.finding_hash, v.id for update of v skip locked
  )
  update vulnerabilities v
  set seen = u.seen, seen_reason = u.reason
  from untested u
  where v.id = u.id and (v.seen <> u.seen or regexp_replace(v.seen_reason, ' in run [0-9]+', '')
                                             <> regexp_replace(u.reason, ' in run [0-9]+', ''));
end $$;
