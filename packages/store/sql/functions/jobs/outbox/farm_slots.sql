-- The slots of all workers.
create or replace function farm_slots() returns int
language sql stable as $$
  select greatest(1, sum(slots))::int from workers where kind = 'worker' and lease_until > now() and lost_at is null
$$;
