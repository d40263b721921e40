-- Defers a run whose claim did not return in time.
create or replace function worker.defer_run(p_secret text, p_worker_id text, p_run_id bigint, p_epoch int, p_reason text)
returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if renew_lease(p_secret, p_worker_id, null, null)
     and exists (select from runs where id = p_run_id and epoch = p_epoch and status = 'queued'
                 and run_mode = 'distributed') then
    perform defer_run(p_run_id, p_reason);
  end if;
end $$;
