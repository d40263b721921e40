-- Hands back runs whose scope is closed: they are offered again at that time. Runs with a cancel request end.
create or replace function worker.wait_until(p_secret text, p_keys jsonb, p_until timestamptz) returns void
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
  perform delay_runs(array(select id from runs where id = any(v_ids) and status || '' = 'queued'),
                     now() - p_until + interval '10 s');
end $$;
