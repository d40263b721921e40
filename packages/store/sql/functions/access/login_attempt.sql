-- Whether a login may be tried now. An attempt counts as failed until login_succeeded. Failures count for a pair of
-- name and address and for an address; a name alone is only slowed down, so that others cannot lock it out. Keys
-- hold hashes of names; every attempt locks the rows in the same order.
create or replace function login_attempt(
  p_username text, p_address text, p_name_hash text, p_free int, p_longest_ms float8, p_most_rows int,
  out known boolean, out wait_ms int, out slow boolean)
language plpgsql as $$
declare
  v_pair text := 'pair:' || p_name_hash || ':' || p_address;
  v_address text := 'address:' || p_address;
  v_of_name int;
  v_of_all int;
begin
  slow := false;
  known := exists (
    select from login_addresses a join users u on u.id = a.user_id
    where u.username = p_username and a.address = p_address and a.last_at > now() - interval '90 days');
  select coalesce(max(ceil(greatest(0, extract(epoch from f.wait_until - clock_timestamp()) * 1000))), 0) into wait_ms
  from login_failures f where f.key = v_pair or (f.key = v_address and not known);
  if wait_ms > 0 then
    return;
  end if;
  if not known then
    v_of_all := count_login_rate('all');
    v_of_name := count_login_rate('name:' || p_name_hash);
    perform count_login_failure(v_address, 4 * p_free, p_longest_ms);
    slow := v_of_all > 20 * p_free or v_of_name > 2 * p_free;
  end if;
  perform count_login_failure(v_pair, p_free, p_longest_ms);
  -- Every 50th attempt or so deletes old rows, and the oldest ones beyond p_most_rows.
  if random() < 0.02 then
    perform drop_old_login_failures(p_most_rows);
  end if;
end $$;
