-- Saves assets: items that change nothing only count as seen. The rules are those of save_vulnerabilities.
create or replace function save_assets(p_workspace text, p_items jsonb, p_run_id bigint, p_source text)
returns setof saved_record
language plpgsql as $$
declare
  v_contents bytea[];
  v_known bytea[];
  v_ids bigint[];
  v_items int;
  v_seen bytea[];
begin
  select array_agg(decode(i.content, 'hex')) into v_contents from jsonb_to_recordset(p_items) as i(content text);
  select coalesce(array_agg(k.content), '{}'), array_agg(k.id), coalesce(sum(k.items), 0) into v_known, v_ids, v_items
  from known_assets(p_workspace, p_items, v_contents) k;
  if v_items < jsonb_array_length(p_items) then
    return query select * from save_changed_assets(p_workspace, p_items, p_run_id, p_source, v_known);
  end if;
  if v_ids is null then
    return;
  end if;
  select array_agg(s.content), array_agg(s.id) into v_seen, v_ids from see_assets(v_known, v_ids, p_run_id) s;
  return query select s.id, false, false, false, false from unnest(v_ids) as s(id);
  if coalesce(cardinality(v_seen), 0) < cardinality(v_known) then
    -- Another transaction has changed a record in between.
    return query select * from save_changed_assets(p_workspace, items_with(p_items, v_known, v_seen), p_run_id, p_source,
      '{}');
  end if;
end $$;
