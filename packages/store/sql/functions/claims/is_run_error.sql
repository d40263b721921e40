-- Whether an error was caused by the data of a run, and not by the database or by concurrent transactions.
create or replace function is_run_error(p_sqlstate text) returns boolean
language sql immutable parallel safe as $$
  select left(p_sqlstate, 2) not in ('08', '25', '40', '53', '55', '57', '58')
$$;
