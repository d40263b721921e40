-- 1 is the worst.
create or replace function severity_rank(p_severity text) returns int
language sql immutable as $$
  select array_position(array['critical', 'high', 'medium', 'low', 'info'], p_severity)
$$;
