-- Takes a lock of masters to the end of the transaction, unless another transaction holds it.
create or replace function try_lock(p_name text) returns boolean
language plpgsql as $$
begin
  perform 1 from locks where name = p_name for update skip locked;
  if not found then
    insert into locks (name) values (p_name) on conflict do nothing;
  end if;
  return found;
end $$;
