-- Takes unprocessed events, the oldest first, that no other master works on.
create or replace function claim_events(p_limit int, p_lease_ms int) returns setof event_logs
language sql as $$
  update event_logs set claimed_until = clock_timestamp() + p_lease_ms * interval '1 ms'
  where id in (
    select id from event_logs
    where not processed and (claimed_until is null or claimed_until < clock_timestamp())
    order by id limit p_limit for update skip locked)
  returning *
$$;
