-- The data of a finding's events, as JSON text.
create or replace function finding_event_data(v vulnerabilities, p_run runs, p_reopened boolean) returns text
language sql stable as $$
  select json_build_object(
    'id', v.id, 'workspace', v.workspace, 'vuln_info', v.vuln_info, 'vuln_title', v.vuln_title,
    'severity', v.severity, 'confidence', v.confidence, 'asset_type', v.asset_type, 'asset_value', v.asset_value,
    'tags', v.tags, 'source', v.source, 'seen', v.seen, 'verdict', v.verdict, 'assignee', v.assignee,
    'reopened', p_reopened,
    'run_uuid', coalesce((p_run).run_uuid::text, ''), 'workflow', coalesce((p_run).workflow_name, ''),
    'target', coalesce(without_password((p_run).target), ''))::text
$$;
