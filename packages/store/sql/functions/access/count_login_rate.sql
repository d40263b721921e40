-- Counts a login attempt in a window of one minute and returns the number of attempts in it.
create or replace function count_login_rate(p_key text) returns int
language sql as $$
  insert into login_failures as f (key, failures, last_at, wait_until)
  values (p_key, 1, now(), now() + interval '1 minute')
  on conflict (key) do update
  set failures = case when f.wait_until < now() then 1 else f.failures + 1 end,
      last_at = now(),
      wait_until = case when f.wait_until < now() then now() + interval '1 minute' else f.wait_until end
  returning failures
$$;
