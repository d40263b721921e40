-- Counts a login attempt that may fail. After p_free attempts each further one has to wait, twice as long each time.
create or replace function count_login_failure(p_key text, p_free int, p_longest_ms float8) returns void
language sql as $$
  insert into login_failures as f (key, failures, last_at, wait_until) values (p_key, 1, now(), now())
  on conflict (key) do update
  set failures = case when f.last_at < now() - interval '15 minutes' then 1 else f.failures + 1 end,
      last_at = now(),
      wait_until = now() + interval '1 ms' * case
        when f.last_at < now() - interval '15 minutes' or f.failures < p_free then 0
        else least(p_longest_ms, 1000::float8 * 2 ^ least(f.failures - p_free, 30))
      end
$$;
