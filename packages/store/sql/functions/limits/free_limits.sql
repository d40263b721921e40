-- Frees the shares of runs that ended or are queued again, and offers the next runs that wait for them. Callers call it
-- last: no lock is taken after that of the limits.
create or replace function free_limits(p_ids bigint[]) returns void
language plpgsql
-- planner: walk
as $$
declare
  v_next bigint[];
begin
  if not exists (select from limit_uses where run_id = any(p_ids)) then
    return;
  end if;
  perform 1 from farm_limits for update;
  with freed as (
    delete from limit_uses u using runs r
    where u.run_id = any(p_ids) and r.id = u.run_id and (u.until is not null or r.status || '' <> 'queued')
    returning u.scope_no, u.kind, u.lo, u.hi, u.until
  ), spans as (
    select distinct scope_no, kind, lo, hi from freed where until is not null
  )
  select array_agg(run_id) into v_next from (
    select o.run_id
    from (select distinct w.run_id from spans s join limit_uses w
            on w.scope_no = s.scope_no and w.kind = s.kind and w.lo <= s.hi and w.hi >= s.lo and w.until is null) w
    join outbox o on o.run_id = w.run_id
    where o.sent_at = 'infinity'
    order by o.rank, o.run_id limit 100
  ) next;
  perform wake_limited(v_next) where v_next is not null;
end $$;
