-- The texts of a JSON array; empty for null.
create or replace function text_array(p_list jsonb) returns text[]
language sql immutable as $$ select array(select jsonb_array_elements_text(coalesce(p_list, '[]'))) $$;
