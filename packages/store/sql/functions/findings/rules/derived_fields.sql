-- The fields of a finding that follow from others: the decision of a person wins over rules, and rules over the scanner. It is
-- gone for lists and counts if a scan saw that it is gone, or if its verdict says that there is nothing to do; a fix that
-- was claimed does not count once a scan has seen the finding again.
create or replace function derived_fields(p_seen text, p_scan_severity text, p_scan_tags text[], p_decision jsonb,
  p_ruled jsonb, p_back_at timestamptz, out severity text, out tags text[], out verdict text, out reason text,
  out until timestamptz, out decided_by text, out decided_at timestamptz, out back_at timestamptz, out assignee text,
  out state text)
language plpgsql stable as $$
declare
  v_verdict jsonb := coalesce(p_decision -> 'verdict', p_ruled -> 'verdict', '{}');
begin
  if p_decision = '{}' and p_ruled = '{}' then
    severity := p_scan_severity;
    tags := p_scan_tags;
    verdict := 'none';
    reason := '';
    decided_by := '';
    assignee := '';
    state := case p_seen when 'gone' then 'gone' else 'open' end;
    return;
  end if;
  severity := coalesce(p_decision ->> 'severity', p_ruled #>> '{severity,value}', p_scan_severity);
  assignee := coalesce(p_decision ->> 'assignee', p_ruled #>> '{assignee,value}', '');
  tags := merged_tags(p_scan_tags, p_ruled -> 'tags', p_decision -> 'add_tags', p_decision -> 'remove_tags', 256);
  verdict := coalesce(v_verdict ->> 'value', 'none');
  reason := coalesce(v_verdict ->> 'reason', '');
  until := v_verdict ->> 'until';
  decided_by := coalesce(v_verdict ->> 'by', '');
  decided_at := v_verdict ->> 'at';
  back_at := case when verdict = 'fixed_claimed' and p_seen <> 'gone' then p_back_at end;
  state := case
    when p_seen = 'gone' or verdict in ('false_positive', 'accepted') or verdict = 'fixed_claimed' and back_at is null
      then 'gone'
    else 'open' end;
end $$;
