-- Registers a process with a new lease, and the hash of its secret. A repeated call changes nothing. A process that
-- joins again keeps what an operator wanted of it.
create or replace function join_farm(p_secret text, p_worker jsonb) returns void
language plpgsql as $$
begin
  if coalesce(length(p_secret), 0) < 32 then
    raise insufficient_privilege using message = 'a worker joins with a secret of at least 32 characters';
  end if;
  insert into workers (id, name, hostname, pid, version, kind, slots, capabilities, wanted, drain_until, lease_ms,
                       lease_until, secret_hash, enforcement_gap)
  select w.id, w.name, w.hostname, w.pid, w.version, w.kind, w.slots, w.capabilities,
         coalesce(w.wanted, 'running'), now() + (p_worker ->> 'drain_ms')::bigint * interval '1 ms', w.lease_ms,
         now() + w.lease_ms * interval '1 ms', secret_hash(p_secret), left(w.enforcement_gap, 500)
  from jsonb_populate_record(null::workers, p_worker) w
  on conflict (id) do nothing;
  if not p_worker ->> 'id' = any(own_workers(p_secret)) then
    raise insufficient_privilege using message = 'a worker with this id has joined with another secret';
  end if;
end $$;
