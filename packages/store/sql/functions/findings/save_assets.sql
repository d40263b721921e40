-- Saves assets: items that change nothing only count as seen. The rules are those of save_vulnerabilities.
create or replace function save_assets(p_workspace text, p_items jsonb, p_run_id bigint, p_source text)
returns setof saved_record
language plpgsql
as $$
declare
  v_contents bytea[] := array(select decode(i ->> 'content', 'hex') from jsonb_array_elements(p_items) i);
  v_known bytea[];
  v_known_ids bigint[];
  v_seen bytea[];
  v_ids bigint[];
begin
  select coalesce(array_agg(k.content), '{}'), array_agg(k.id) into v_known, v_known_ids
  from known_assets(p_workspace, p_items, v_contents) k;
  if exists (select from unnest(v_contents) c where c is null or c <> all(v_known)) then
    return query select * from save_changed_assets(p_workspace, p_items, p_run_id, p_source, v_known);
  end if;
  if v_known = '{}' then
    return;
  end if;
  select array_agg(s.content), array_agg(s.id) into v_seen, v_ids from see_assets(v_known, v_known_ids, p_run_id) s;
  return query select s.id, false, false, false, false from unnest(v_ids) as s(id);
  -- Changed by another transaction in between.
  return query
    select c.* from (select jsonb_agg(i) as items from jsonb_array_elements(p_items) i
                     where decode(i ->> 'content', 'hex') = any(v_known)
                       and decode(i ->> 'content', 'hex') <> all(coalesce(v_seen, '{}'))) missed
    cross join lateral save_changed_assets(p_workspace, missed.items, p_run_id, p_source, '{}') c
    where missed.items is not null;
end $$;
