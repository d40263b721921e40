-- Hands back runs whose limits have no share left: they are offered again when there is one, and meanwhile pass their
-- slots to other runs of their jobs. Runs with a cancel request end.
create or replace function worker.wait_for_limits(p_secret text, p_keys jsonb) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp
-- planner: batch
as $$
declare
  v_ids bigint[] := lock_owned(p_secret, p_keys);
begin
  if v_ids is null then
    return;
  end if;
  perform release_runs(v_ids);
  update outbox set sent_at = 'infinity', delayed = true where run_id = any(v_ids);
  -- A share may have become free meanwhile.
  perform wake_limited(v_ids);
  perform pass_slots(array(select run_id from outbox where run_id = any(v_ids) and sent_at + interval '0' = 'infinity'));
end $$;
