import { sql, type Kysely } from 'kysely'

/**
 * Failed logins count for a pair of name and address and for an address; a name by itself is only slowed down, so that
 * others cannot lock it out. Addresses from which a user has logged in are remembered.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
  await sql.raw(COUNT).execute(db)
  await sql.raw(ATTEMPT).execute(db)
  await sql.raw(SUCCEEDED).execute(db)
}

const TABLES = `
truncate login_failures;
create index login_failures_age on login_failures (last_at);

create table login_addresses (
  user_id bigint not null references users on delete cascade,
  address text not null,
  last_at timestamptz not null default now(),
  primary key (user_id, address)
);
`

const COUNT = `
-- Counts an attempt that may fail. After p_free of them, each next one has to wait, twice as long each time.
create function count_login_failure(p_key text, p_free int, p_longest_ms float8) returns void
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

-- Counts an attempt in a window of one minute; returns how many there were in it.
create function count_login_rate(p_key text) returns int
language sql as $$
  insert into login_failures as f (key, failures, last_at, wait_until)
  values (p_key, 1, now(), now() + interval '1 minute')
  on conflict (key) do update
  set failures = case when f.wait_until < now() then 1 else f.failures + 1 end,
      last_at = now(),
      wait_until = case when f.wait_until < now() then now() + interval '1 minute' else f.wait_until end
  returning failures
$$;
`

const ATTEMPT = `
-- Whether a login may be tried now. An attempt that may is counted as failed until login_succeeded. Keys are hashes of
-- names; rows are locked in the same order by every attempt.
create function login_attempt(
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
  select coalesce(max(ceil(greatest(0, extract(epoch from f.wait_until - now()) * 1000))), 0) into wait_ms
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
  -- Now and then the table is made smaller: what is old goes, then the oldest beyond the bound.
  if random() < 0.02 then
    delete from login_failures f using (
      select key from login_failures
      where last_at < greatest(now() - interval '15 minutes',
        (select last_at from login_failures order by last_at desc offset p_most_rows limit 1))
      limit 10000 for update skip locked) old
    where f.key = old.key;
  end if;
end $$;
`

const SUCCEEDED = `
-- Takes the count of the attempt back and remembers the address: the last 20 of a user.
create function login_succeeded(p_username text, p_address text, p_name_hash text) returns void
language plpgsql as $$
declare
  v_user bigint;
  v_key text;
begin
  foreach v_key in array array['all', 'name:' || p_name_hash, 'address:' || p_address] loop
    update login_failures set failures = greatest(0, failures - 1) where key = v_key;
  end loop;
  delete from login_failures where key = 'pair:' || p_name_hash || ':' || p_address;
  select id into v_user from users where username = p_username;
  if v_user is null then
    return;
  end if;
  insert into login_addresses (user_id, address) values (v_user, p_address)
  on conflict (user_id, address) do update set last_at = now();
  delete from login_addresses a where a.user_id = v_user and a.address not in (
    select address from login_addresses where user_id = v_user order by last_at desc, address limit 20);
end $$;
`
