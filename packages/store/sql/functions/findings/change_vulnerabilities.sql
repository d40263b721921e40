-- Changes findings by hand: {"delete": true}, or any of verdict with reason and until, severity, assignee, tags, add_tags,
-- remove_tags, ticket, comment and state. The state of older clients is a verdict: gone claims a fix, open takes a verdict
-- back, and disputes a scan that saw it gone. A gone one that is opened again writes vuln.found, as a sighting does.
-- Records are locked in the order of identities, as imports do. Returns for each id 'changed', 'unchanged', 'deleted',
-- 'not_found' or 'too_many_tags'.
create or replace function change_vulnerabilities(p_ids bigint[], p_change jsonb, p_by text, p_most_tags int)
returns table (record_id bigint, outcome text)
language plpgsql as $$
declare
  v_old record;
  v_new record;
  v_change jsonb;
  v_state text;
  v_comment text := coalesce(p_change ->> 'comment', '');
  v_opened bigint[] := '{}';
begin
  perform set_config('scanfarm.changed_by', p_by, true);
  lock table finding_rules in access share mode;
  perform 1 from vulnerabilities v where v.id = any(p_ids) order by v.finding_hash, v.id for update;
  if p_change ->> 'delete' = 'true' then
    perform 1 from finding_sightings t where t.finding_id = any(p_ids) order by t.finding_id for update;
    return query select i.id, case when delete_vulnerability(i.id) then 'deleted' else 'not_found' end
      from unnest(p_ids) as i(id);
    return;
  end if;
  foreach record_id in array p_ids loop
    select v.state, v.seen, v.seen_reason, v.verdict, v.decision, v.ruled, v.tags, v.scan_tags, v.ticket, v.back_at
    into v_old from vulnerabilities v where v.id = record_id;
    if not found then
      outcome := 'not_found';
      return next;
      continue;
    end if;
    v_new := v_old;
    v_change := p_change;
    if p_change ->> 'state' <> v_old.state then
      if p_change ->> 'state' = 'gone' or v_old.verdict not in ('none', 'confirmed') then
        v_change := v_change || jsonb_build_object('verdict',
          case p_change ->> 'state' when 'gone' then 'fixed_claimed' else 'none' end);
      end if;
      if p_change ->> 'state' = 'open' and v_old.seen = 'gone' then
        v_new.seen := 'not_tested';
        v_new.seen_reason := 'opened by ' || p_by;
      end if;
    end if;
    v_new.decision := decided(v_old.decision, v_old.tags, v_old.back_at is not null, v_change, p_by);
    v_new.ticket := coalesce(p_change ->> 'ticket', v_old.ticket);
    if v_new.decision -> 'verdict' is distinct from v_old.decision -> 'verdict' then
      v_new.back_at := null;
    end if;
    if v_new.decision - '{verdict,severity,assignee}'::text[] <> v_old.decision - '{verdict,severity,assignee}'::text[]
      and cardinality(merged_tags(v_old.scan_tags, v_old.ruled -> 'tags', v_new.decision -> 'add_tags',
                                  v_new.decision -> 'remove_tags', p_most_tags + 1)) > p_most_tags
    then
      outcome := 'too_many_tags';
      return next;
      continue;
    end if;
    outcome := 'unchanged';
    if (v_new.seen, v_new.decision, v_new.ticket) is distinct from (v_old.seen, v_old.decision, v_old.ticket) then
      update vulnerabilities v
      set seen = v_new.seen, seen_reason = v_new.seen_reason, decision = v_new.decision, ticket = v_new.ticket,
        back_at = v_new.back_at
      where v.id = record_id returning v.state into v_state;
      outcome := 'changed';
      if (v_old.state, v_state) = ('gone', 'open') then
        v_opened := v_opened || record_id;
      end if;
    end if;
    if v_comment <> '' then
      insert into finding_changes (vulnerability_id, changes, changed_by, comment)
      values (record_id, '{}', p_by, v_comment);
      outcome := 'changed';
    end if;
    return next;
  end loop;
  perform log_reopened(v_opened);
end $$;
