-- Copies the scans of an earlier attempt to the attempt of p_run that took over its steps: their records count as seen
-- by it. Scans of another run are copied as judged: a run between the two may know more.
create or replace function take_over_scans(p_run runs, p_uuid uuid, p_attempt int) returns void
language plpgsql as $$
declare
  v_from bigint := (select id from runs where run_uuid = p_uuid);
begin
  insert into scans (run_id, attempt, scope_id, kind, errors, names_hosts, names_untested, judged_at)
  select p_run.id, p_run.attempt, scope_id, kind, errors, names_hosts, names_untested,
         case when v_from <> p_run.id then now() end
  from scans where run_id = v_from and attempt = p_attempt
  order by scope_id, kind
  on conflict do nothing;
  insert into observations (run_id, attempt, kind, record_id, seen)
  select p_run.id, p_run.attempt, kind, record_id, seen
  from observations where run_id = v_from and attempt = p_attempt
  order by kind, record_id
  on conflict do nothing;
  if v_from <> p_run.id then
    return;
  end if;
  insert into reached_hosts (run_id, attempt, scope_id, kind, host, check_id, reason, failed, silent, ports)
  select p_run.id, p_run.attempt, scope_id, kind, host, check_id, reason, failed, silent, ports
  from reached_hosts where run_id = v_from and attempt = p_attempt
  order by scope_id, kind, host, check_id
  on conflict do nothing;
  update sightings s set attempt = p_run.attempt
  where (s.kind, s.record_id, s.scope_id) in (
    select o.kind, o.record_id, o.scope_id
    from scans c join sightings o on o.scope_id = c.scope_id and o.kind = c.kind and o.run_id = c.run_id
    where c.run_id = v_from and c.attempt = p_attempt and o.attempt = p_attempt
    order by o.kind, o.record_id, o.scope_id for update of o);
end $$;
