-- The fields of a finding that comparisons of runs show.
create or replace function finding_seen(v vulnerabilities) returns jsonb
language sql immutable as $$
  select jsonb_build_object('vuln_info', v.vuln_info, 'vuln_title', v.vuln_title, 'severity', v.severity,
    'confidence', v.confidence, 'asset_type', v.asset_type, 'asset_value', v.asset_value, 'tags', to_jsonb(v.tags))
$$;
