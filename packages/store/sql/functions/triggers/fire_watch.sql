-- Fires a watch for a new or changed file. Null: another master has fired it.
create or replace function fire_watch(p_key text, p_path text, p_mark text, p_fire jsonb) returns jsonb
language plpgsql as $$
begin
  insert into watched_files as w (trigger_key, path, mark) values (p_key, p_path, p_mark)
  on conflict (trigger_key, path) do update set mark = excluded.mark where w.mark <> excluded.mark;
  if not found then
    return null;
  end if;
  return emit_scheduled_event(p_fire);
end $$;
