-- The time up to which the executions of a cron trigger are decided. A new or changed trigger begins at p_now.
create or replace function start_clock(p_key text, p_hash text, p_now timestamptz) returns timestamptz
language plpgsql as $$
begin
  insert into trigger_clocks as c (trigger_key, spec_hash, handled_until) values (p_key, p_hash, p_now)
  on conflict (trigger_key) do update
  set spec_hash = excluded.spec_hash, handled_until = excluded.handled_until, seen_at = now()
  where c.spec_hash <> excluded.spec_hash;
  return (select handled_until from trigger_clocks where trigger_key = p_key);
end $$;
