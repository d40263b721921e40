-- Takes back the count of the attempt and remembers the address: the last 20 of a user.
create or replace function login_succeeded(p_username text, p_address text, p_name_hash text) returns void
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
