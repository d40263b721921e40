-- Registers the present files of a new or changed watch as known. False: the watch knows its files already.
create or replace function start_watch(p_key text, p_hash text, p_paths text[], p_marks text[]) returns boolean
language plpgsql as $$
begin
  insert into trigger_clocks as c (trigger_key, spec_hash, handled_until) values (p_key, p_hash, now())
  on conflict (trigger_key) do update set spec_hash = excluded.spec_hash, handled_until = now(), seen_at = now()
  where c.spec_hash <> excluded.spec_hash;
  if not found then
    return false;
  end if;
  delete from watched_files where trigger_key = p_key;
  insert into watched_files (trigger_key, path, mark)
  select p_key, path, mark from unnest(p_paths, p_marks) as f(path, mark);
  return true;
end $$;
