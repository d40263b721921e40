-- How long an address must wait before it may log in with a token or a code; 0: now. The attempt counts as a failed
-- login of the address until secret_succeeded.
create or replace function secret_attempt(
  p_address text, p_free int, p_longest_ms float8, p_most_rows int, out wait_ms int)
language plpgsql as $$
declare
  v_key text := 'address:' || p_address;
begin
  select coalesce(max(ceil(greatest(0, extract(epoch from f.wait_until - clock_timestamp()) * 1000))), 0) into wait_ms
  from login_failures f where f.key = v_key;
  if wait_ms > 0 then
    return;
  end if;
  perform count_login_failure(v_key, 4 * p_free, p_longest_ms);
  if random() < 0.02 then
    perform drop_old_login_failures(p_most_rows);
  end if;
end $$;
