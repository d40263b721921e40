-- What a rule that is not saved would do to the newest p_limit findings that it matches, or that it matches as saved: the
-- fields before and after.
create or replace function preview_rule(p_id bigint, p_rule jsonb, p_limit int)
returns table (id bigint, before jsonb, after jsonb)
language sql stable
-- planner: read
as $$
  with draft as materialized (
    select d from draft_rule(p_id, p_rule, '') d
  )
  select v.id, jsonb_build_object('workspace', v.workspace, 'vuln_title', v.vuln_title, 'vuln_info', v.vuln_info,
           'asset_value', v.asset_value, 'state', v.state, 'verdict', v.verdict, 'decided_by', v.decided_by,
           'severity', v.severity, 'tags', v.tags, 'assignee', v.assignee),
         jsonb_build_object('workspace', v.workspace, 'vuln_title', v.vuln_title, 'vuln_info', v.vuln_info,
           'asset_value', v.asset_value, 'state', f.state, 'verdict', f.verdict, 'decided_by', f.decided_by,
           'severity', f.severity, 'tags', f.tags, 'assignee', f.assignee)
  from draft cross join vulnerabilities v
  cross join lateral derived_fields(v.seen, v.scan_severity, v.scan_tags, v.decision,
    rule_effects(v.workspace, v.vuln_info, v.vuln_title, v.asset_value, v.source, v.scan_severity, v.scan_tags, draft.d),
    v.back_at) f
  where rule_matches(draft.d, v.workspace, v.vuln_info, v.vuln_title, v.asset_value, v.source, v.scan_severity, v.scan_tags)
    or v.ruled <> '{}' and v.ruled @> jsonb_build_object('rules', jsonb_build_array(p_id))
  order by v.id desc limit p_limit
$$;
