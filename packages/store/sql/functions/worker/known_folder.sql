-- The folder of known findings, for a run that the caller owns; see the function without "worker". Null: none is known, or another
-- worker has the run. It tells no more than the counts of an import.
create or replace function worker.known_folder(p_secret text, p_run_id bigint, p_attempt int, p_workspace text, p_items jsonb)
returns text
language plpgsql stable security definer set search_path = pg_catalog, public, pg_temp as $$
begin
  if workspace_of_owned(p_secret, p_run_id, p_attempt, null) is null then
    return null;
  end if;
  return known_folder(p_workspace, p_items);
end $$;
