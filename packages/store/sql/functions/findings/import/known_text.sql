-- The text of a record after a sighting: the known one if the sighting repeats a result or has no text.
create or replace function known_text(p_known text, p_seen text, p_repeats boolean) returns text
language sql immutable as $$ select case when p_repeats or p_seen = '' then p_known else p_seen end $$;
