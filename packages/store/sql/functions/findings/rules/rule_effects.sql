-- What rules set at a finding: {"verdict": {"rule", "value", "reason", "until", "by", "at"}, "severity": {"rule", "value"},
-- "assignee": {"rule", "value"}, "tags": [], "rules": [ids]}. They see what scans reported: not what rules and people made of it.
-- p_draft is a rule that is not stored, in place of the one with its id.
create or replace function rule_effects(p_workspace text, p_info text, p_title text, p_asset text, p_source text,
  p_severity text, p_tags text[], p_draft finding_rules)
returns jsonb
language plpgsql stable as $$
declare
  r finding_rules;
  v_effects jsonb := '{}';
begin
  if (p_draft).name is null and not exists (select from finding_rules) then
    return v_effects;
  end if;
  for r in
    select (s.rule).* from (
      select f as rule from finding_rules f where f.id is distinct from (p_draft).id
      union all select p_draft where (p_draft).name is not null) s
    order by (s.rule).position, (s.rule).id
  loop
    continue when not rule_matches(r, p_workspace, p_info, p_title, p_asset, p_source, p_severity, p_tags);
    v_effects := jsonb_strip_nulls(jsonb_build_object(
        'verdict', case when r.verdict is not null and (r.until is null or r.until > now()) then jsonb_build_object(
          'rule', r.id, 'value', r.verdict, 'reason', r.reason, 'until', r.until, 'by', 'rule:' || r.name,
          'at', r.updated_at) end,
        'severity', case when r.severity is not null then jsonb_build_object('rule', r.id, 'value', r.severity) end,
        'assignee', case when r.assignee is not null then jsonb_build_object('rule', r.id, 'value', r.assignee) end))
      || v_effects
      || jsonb_build_object('rules', coalesce(v_effects -> 'rules', '[]') || to_jsonb(r.id));
    if r.tags <> '{}' then
      v_effects := v_effects || jsonb_build_object('tags', coalesce(v_effects -> 'tags', '[]') || to_jsonb(r.tags));
    end if;
  end loop;
  return v_effects;
end $$;
