-- The file of a place in a file, without the number of the line.
create or replace function file_of(p_place text) returns text
language sql immutable as $$ select regexp_replace(p_place, ':[0-9]+$', '') $$;
