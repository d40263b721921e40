-- A rule with the fields of p_rule, which are columns of finding_rules, in place of those of rule p_id. Without p_id it is a new
-- rule, after all others.
create or replace function draft_rule(p_id bigint, p_rule jsonb, p_by text) returns finding_rules
language sql stable as $$
  select d from jsonb_populate_record(
    coalesce((select f from finding_rules f where f.id = p_id), jsonb_populate_record(null::finding_rules,
      jsonb_build_object('reason', '', 'tags', '{}'::text[], 'created_by', p_by, 'created_at', now(),
        'position', (select coalesce(max(position), 0) + 1 from finding_rules)))),
    p_rule || jsonb_build_object('id', p_id, 'updated_at', now())) d
$$;
