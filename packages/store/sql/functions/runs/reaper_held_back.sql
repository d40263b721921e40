-- Why no worker may be declared lost in this turn: 'gap', 'mass' or ''. After a gap in the turns, or a start of the
-- database, workers could not renew their leases and get one lease of time. The same holds when several workers with
-- more than 30 % of the running runs expire together: the network is the likelier cause, and they are lost only if
-- that lasts for one lease. One expired worker is an ordinary loss, whatever its share of the runs.
create or replace function reaper_held_back(p_lease interval) returns text
language plpgsql as $$
declare
  v_farm farm;
  v_running int;
  v_expiring int;
  v_workers int;
begin
  select * into v_farm from farm for update;
  if v_farm.reaper_turn_at is null or v_farm.reaper_turn_at < now() - p_lease then
    v_farm.reaper_hold_until := now() + p_lease;
  end if;
  update farm set reaper_turn_at = now(), reaper_hold_until = v_farm.reaper_hold_until;
  if v_farm.reaper_hold_until > now() or pg_postmaster_start_time() + p_lease > now() then
    return 'gap';
  end if;

  select count(*), count(w.id), count(distinct w.id) into v_running, v_expiring, v_workers
  from runs r left join workers w on w.id = r.worker_id and w.lost_at is null and w.lease_until < now()
  where r.status = 'running';
  if v_workers < 2 or v_expiring <= 0.3 * v_running then
    update farm set mass_expiry_since = null where mass_expiry_since is not null;
    return '';
  end if;
  update farm set mass_expiry_since = coalesce(mass_expiry_since, now()) returning * into v_farm;
  if v_farm.mass_expiry_since + p_lease > now() then
    return 'mass';
  end if;
  update farm set mass_expiry_since = null;
  return '';
end $$;
