-- The marker that replaces a text in the stored record of a scanner: its hash between characters that JSON forbids,
-- so that a marker restores that text alone.
create or replace function raw_marker(p_text text) returns text
language sql immutable as $$ select chr(1) || md5(p_text) || chr(1) $$;
