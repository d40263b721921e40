-- Renews the lease of an infrastructure. False: p_owner does not own it.
create or replace function renew_infra(p_infra_no bigint, p_owner text, p_lease_ms int) returns boolean
language plpgsql as $$
begin
  update cloud_infras set owner_until = clock_timestamp() + p_lease_ms * interval '1 ms', recheck = false
  where id = p_infra_no and owner = p_owner and owner_until > clock_timestamp() and closed_at is null;
  return found;
end $$;
