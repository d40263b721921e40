-- One count of a tally; 0 if it is missing.
create or replace function tally_count(p_tally jsonb, p_name text) returns int
language sql immutable parallel safe as $$ select coalesce((p_tally ->> p_name)::int, 0) $$;
