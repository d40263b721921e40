-- Registers a worker with a new lease. One that joins again keeps what an operator wanted of it.
create or replace function worker.join(p_worker jsonb) returns void
language sql security definer set search_path = pg_catalog, public, pg_temp as $$
  insert into workers (id, name, hostname, pid, version, kind, slots, capabilities, wanted, lease_ms, lease_until)
  select w.id, w.name, w.hostname, w.pid, w.version, w.kind, w.slots, w.capabilities,
         coalesce(w.wanted, 'running'), w.lease_ms, now() + w.lease_ms * interval '1 ms'
  from jsonb_populate_record(null::workers, p_worker) w
  on conflict (id) do nothing
$$;
