-- Leases a due infrastructure to p_owner. Returns its number; null: none is due.
create or replace function acquire_infra(p_owner text, p_lease_ms int) returns bigint
language sql as $$
  update cloud_infras set owner = p_owner, owner_until = clock_timestamp() + p_lease_ms * interval '1 ms', recheck = false
  where id = (
    select id from cloud_infras
    where closed_at is null and due_at <= clock_timestamp()
      and (owner_until is null or owner_until <= clock_timestamp())
    order by due_at, id limit 1 for update skip locked)
  returning id
$$;
