-- The counts of an import of p_items results, from its saved records: new + known + merged = p_items.
create or replace function import_counts(p_saved saved_record[], p_items int) returns jsonb
language sql stable as $$
  select jsonb_build_object('new', count(*) filter (where created),
    'updated', count(*) filter (where changed and not merged),
    'unchanged', count(*) filter (where not created and not changed and not merged),
    'known', count(*) filter (where not created and not merged),
    'merged', p_items - count(*) filter (where not merged), 'errors', 0)
  from unnest(p_saved)
$$;
