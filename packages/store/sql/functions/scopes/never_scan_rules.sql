-- The entries of the never-scan list that are valid, for one workflow or (null) for all.
create or replace function never_scan_rules(p_workflow text) returns jsonb
language sql stable as $$
  select coalesce(jsonb_agg(jsonb_build_object('entry', entry, 'reason', reason, 'until', until, 'workflow', workflow)
                            order by id), '[]')
  from never_scan
  where (until is null or until > now()) and (p_workflow is null or workflow in ('', p_workflow))
$$;
