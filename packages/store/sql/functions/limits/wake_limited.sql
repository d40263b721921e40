-- Offers waiting runs again whose limits have a share left, by priority and age, and keeps their shares for a minute. Those
-- whose job has no free slot wait for it, without a share. p_ids: only these; null: the first 1,000. Returns how many.
create or replace function wake_limited(p_ids bigint[]) returns int
language plpgsql
-- planner: walk
as $$
declare
  v_id bigint;
  v_woken int := 0;
begin
  perform 1 from farm_limits for update;
  for v_id in
    select run_id from outbox
    where sent_at = 'infinity' and (p_ids is null or run_id = any(p_ids))
    order by rank, run_id limit 1000 for update skip locked
  loop
    if limit_problem(v_id) is null then
      if not take_slot(v_id) then
        update outbox set ready = false, sent_at = null, delayed = false where run_id = v_id;
        delete from limit_uses where run_id = v_id;
        continue;
      end if;
      update limit_uses set until = now() + interval '1 min', rate = rate_share(v_id) where run_id = v_id;
      update outbox set sent_at = null, delayed = false where run_id = v_id;
      v_woken := v_woken + 1;
    end if;
  end loop;
  if v_woken > 0 then
    perform notify_masters();
  end if;
  return v_woken;
end $$;
