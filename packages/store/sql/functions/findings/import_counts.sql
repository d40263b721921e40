-- The counts of an import, from its saved records.
create or replace function import_counts(p_saved saved_record[]) returns jsonb
language sql stable as $$
  select jsonb_build_object('new', count(*) filter (where created), 'updated', count(*) filter (where changed),
    'unchanged', count(*) filter (where not created and not changed), 'errors', 0)
  from unnest(p_saved)
$$;
