-- The items whose content is one of p_contents, but none of p_without.
create or replace function items_with(p_items jsonb, p_contents bytea[], p_without bytea[]) returns jsonb
language sql immutable as $$
  select coalesce(jsonb_agg(i), '[]') from jsonb_array_elements(p_items) i
  where decode(i ->> 'content', 'hex') = any(p_contents)
    and decode(i ->> 'content', 'hex') <> all(coalesce(p_without, '{}'))
$$;
