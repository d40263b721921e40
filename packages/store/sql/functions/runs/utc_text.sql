-- A time as the API shows it: in UTC, in milliseconds.
create or replace function utc_text(p_time timestamptz) returns text
language sql stable parallel safe as $$
  select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;
