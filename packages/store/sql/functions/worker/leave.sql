-- Removes a worker and releases its runs.
create or replace function worker.leave(p_secret text, p_worker_id text) returns void
language plpgsql security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  perform 1 from workers where id = p_worker_id and secret_hash = secret_hash(p_secret) for update;
  if not found then
    return;
  end if;
  perform release_runs(array(select id from runs where worker_id = p_worker_id and status = 'running'));
  perform remove_workers(array[p_worker_id]);
end $$;
