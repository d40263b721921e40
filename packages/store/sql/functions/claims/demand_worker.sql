-- Refuses a caller that has not joined. Masters may read without: the login that owns the functions, and its members.
create or replace function demand_worker(p_secret text) returns void
language plpgsql stable as $$
begin
  if cardinality(own_workers(p_secret)) = 0 and not pg_has_role(session_user, current_user, 'member') then
    raise insufficient_privilege using message = 'no worker has joined the farm with this secret';
  end if;
end $$;
