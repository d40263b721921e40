-- The decision about a finding with p_tags after a change by hand; see change_vulnerabilities. Null takes a part of it back, so that rules
-- and scans decide. The same verdict with the same reason stays as it is, unless the finding has come back since.
create or replace function decided(p_decision jsonb, p_tags text[], p_is_back boolean, p_change jsonb, p_by text)
returns jsonb
language plpgsql stable as $$
declare
  v_decision jsonb := p_decision;
  v_key text;
  v_verdict jsonb := jsonb_strip_nulls(jsonb_build_object('value', p_change -> 'verdict',
    'reason', coalesce(p_change ->> 'reason', ''), 'until', p_change -> 'until'));
  v_add jsonb := coalesce(p_change -> 'add_tags', '[]');
  v_remove jsonb := coalesce(p_change -> 'remove_tags', '[]');
begin
  if p_change -> 'verdict' = 'null' then
    v_decision := v_decision - 'verdict';
  elsif p_change ? 'verdict'
    and (p_is_back or v_verdict is distinct from (v_decision -> 'verdict') - '{by,at}'::text[])
  then
    v_decision := v_decision || jsonb_build_object('verdict',
      v_verdict || jsonb_build_object('by', p_by, 'at', now()));
  end if;
  foreach v_key in array array['severity', 'assignee'] loop
    if p_change ? v_key then
      v_decision := jsonb_strip_nulls(v_decision || jsonb_build_object(v_key, p_change -> v_key));
    end if;
  end loop;
  if p_change -> 'tags' = 'null' then
    v_decision := v_decision - '{add_tags,remove_tags}'::text[];
  elsif p_change ? 'tags' then
    -- The whole list: what it lacks is removed.
    v_add := p_change -> 'tags';
    v_remove := to_jsonb(array(select tag from unnest(p_tags) t(tag) where not p_change -> 'tags' ? tag));
  end if;
  if v_add <> '[]' or v_remove <> '[]' then
    v_decision := v_decision || jsonb_build_object(
      'add_tags', to_jsonb(merged_tags('{}', v_decision -> 'add_tags', v_add, v_remove, 1000)),
      'remove_tags', to_jsonb(merged_tags('{}', v_decision -> 'remove_tags', v_remove, v_add, 1000)));
  end if;
  return v_decision;
end $$;
