-- Ends up to p_limit acceptances whose time is over: the findings are open again, unless a scan saw that they are gone. Those of
-- a person end for good, those of a rule as long as its time is over. Returns how many ended.
create or replace function expire_verdicts(p_limit int) returns int
language plpgsql
-- planner: lookup
as $$
declare
  v_ids bigint[];
  v_opened bigint[];
begin
  perform 1 from vulnerabilities where until <= now() limit 1;
  if not found then
    return 0;
  end if;
  perform set_config('scanfarm.changed_by', 'expiry', true);
  lock table finding_rules in access share mode;
  v_ids := array(
    select id from vulnerabilities where id in (select id from vulnerabilities where until <= now() order by until limit p_limit)
    order by finding_hash, id for update);
  with ended as (
    update vulnerabilities v
    set decision = case when (v.decision #>> '{verdict,until}')::timestamptz <= now()
      then v.decision || jsonb_build_object('verdict', jsonb_build_object('value', 'none',
        'reason', 'the acceptance ended', 'by', v.decided_by, 'at', now()))
      else v.decision end
    where v.id = any(v_ids) and v.until <= now()
    returning v.id, v.state, v.opened_at
  )
  select array_agg(id) filter (where state = 'open' and opened_at = now()) into v_opened from ended;
  perform log_reopened(v_opened);
  return cardinality(v_ids);
end $$;
