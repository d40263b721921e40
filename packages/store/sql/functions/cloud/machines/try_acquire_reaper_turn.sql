-- Whether the caller is the one to look for orphaned machines of a provider now.
create or replace function try_acquire_reaper_turn(p_provider text, p_every_ms int) returns boolean
language plpgsql as $$
begin
  insert into cloud_reaps as r (provider, reaped_at) values (p_provider, clock_timestamp())
  on conflict (provider) do update set reaped_at = excluded.reaped_at
  where r.reaped_at <= excluded.reaped_at - p_every_ms * interval '1 ms';
  return found;
end $$;
