-- Waits for a lock of masters and holds it to the end of the transaction. Names that the schema does not list are added.
create or replace function acquire_lock(p_name text) returns void
language plpgsql as $$
begin
  loop
    perform 1 from locks where name = p_name for update;
    exit when found;
    insert into locks (name) values (p_name) on conflict do nothing;
  end loop;
end $$;
