-- Deletes workers and keeps their names. Returns how many it deleted.
create or replace function remove_workers(p_ids text[]) returns int
language plpgsql as $$
begin
  with removed as (delete from workers where id = any(p_ids) returning id, name, hostname, pid, version)
  insert into past_workers (id, name, hostname, pid, version)
  select id, name, hostname, pid, version from removed
  on conflict (id) do nothing;
  return (select count(*) from past_workers where id = any(p_ids));
end $$;
