-- Adds a rule (p_id is null), changes it, or removes it (p_rule is null), and applies all rules again to the findings that it
-- matches or matched. Imports wait until the transaction ends: so each finding meets either the old rules and this
-- change, or the new rules. Returns the id of the rule and how many findings changed; no row: there is no such rule, or there
-- would be more than p_most.
create or replace function save_rule(p_id bigint, p_rule jsonb, p_by text, p_most int)
returns table (rule_id bigint, changed int)
language plpgsql as $$
declare
  v_rule finding_rules;
  v_ids bigint[];
begin
  lock table finding_rules in access exclusive mode;
  perform set_config('scanfarm.changed_by', p_by, true);
  if p_id is null and (select count(*) from finding_rules) >= p_most
    or p_id is not null and not exists (select from finding_rules where id = p_id)
  then
    return;
  end if;
  v_rule := draft_rule(p_id, coalesce(p_rule, '{}'), p_by);
  v_rule.id := coalesce(p_id, nextval(pg_get_serial_sequence('finding_rules', 'id')));
  delete from finding_rules where id = p_id;
  if p_rule is not null then
    insert into finding_rules overriding system value values (v_rule.*);
  end if;
  v_ids := array(
    select v.id from vulnerabilities v
    where (p_rule is not null and rule_matches(v_rule, v.workspace, v.vuln_info, v.vuln_title, v.asset_value, v.source,
                                               v.scan_severity, v.scan_tags)
           or v.ruled <> '{}' and v.ruled @> jsonb_build_object('rules', jsonb_build_array(v_rule.id)))
      and rule_effects(v.workspace, v.vuln_info, v.vuln_title, v.asset_value, v.source, v.scan_severity, v.scan_tags, null)
        <> v.ruled
    order by v.finding_hash, v.id for update);
  update vulnerabilities v set ruled = '{}' where v.id = any(v_ids);
  rule_id := v_rule.id;
  changed := coalesce(cardinality(v_ids), 0);
  return next;
end $$;
