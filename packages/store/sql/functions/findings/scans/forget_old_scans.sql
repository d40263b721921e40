-- Deletes scans and observations of a scope beyond its latest p_history runs.
create or replace function forget_old_scans(p_scope_id bigint, p_history int) returns void
language plpgsql as $$
declare
  v_last bigint;
begin
  select run_id into v_last from (
    select distinct run_id from scans where scope_id = p_scope_id order by run_id desc offset p_history limit 1) old;
  if v_last is null then
    return;
  end if;
  delete from observations where run_id in (select run_id from scans where scope_id = p_scope_id and run_id <= v_last);
  delete from scans where scope_id = p_scope_id and run_id <= v_last and judged_at is not null;
end $$;
