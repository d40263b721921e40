-- Marks the findings of a judged scan's scope that it neither saw nor closed: those of hosts that it did not reach as
-- unreachable, others as not tested. p_reason says why the scan is incomplete; null: it is complete. A finding that another scope
-- has seen since, or that an import is changing, stays as it is.
create or replace function mark_untested(p_scan scans, p_reason text) returns void
language plpgsql as $$
begin
  if p_scan.kind <> 'vulnerability' then
    return;
  end if;
  with untested as materialized (
    select v.id, p_reason is null and not exists (
      select from reached_hosts h
      where h.failed and (h.run_id, h.attempt, h.scope_id, h.kind)
        = (p_scan.run_id, p_scan.attempt, p_scan.scope_id, p_scan.kind)
        and h.host = case v.asset_type when 'file' then file_of(v.asset_value) else host_of(v.asset_value) end) as unreached
    from sightings s join vulnerabilities v on v.id = s.record_id
    where s.scope_id = p_scan.scope_id and s.kind = 'vulnerability' and (s.run_id, s.attempt) < (p_scan.run_id, p_scan.attempt)
      and v.seen <> 'gone' and not exists (
        select from sightings o where o.kind = s.kind and o.record_id = s.record_id and o.scope_id <> s.scope_id
          and o.run_id > s.run_id)
    order by v.finding_hash, v.id for update of v skip locked
  )
  update vulnerabilities v
  set seen = case when u.unreached then 'unreachable' else 'not_tested' end,
    seen_reason = scan_name(p_scan) || coalesce(': ' || p_reason,
      case when u.unreached then ' did not reach ' || host_of(v.asset_value) else ' could not check it' end)
  from untested u
  where v.id = u.id and v.seen <> case when u.unreached then 'unreachable' else 'not_tested' end;
end $$;
