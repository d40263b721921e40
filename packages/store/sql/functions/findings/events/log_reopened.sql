-- Writes vuln.found for findings that are open again without a sighting.
create or replace function log_reopened(p_ids bigint[]) returns void
language sql as $$
  select log_record_events('vuln.found', 'vulnerability', o.workspace, null, o.list)
  from (select v.workspace, array_agg(finding_event_data(v, null, true) order by v.id) as list
        from vulnerabilities v where v.id = any(p_ids) group by v.workspace) o
$$;
