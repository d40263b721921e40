-- A text as it appears within a JSON string.
create or replace function escape_json(p_text text) returns text
language sql immutable as $$ select substr(to_json(p_text)::text, 2, length(to_json(p_text)::text) - 2) $$;
