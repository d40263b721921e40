-- The host of a place, in lower case. A place is a URL, host:port, host:port/udp, [address]:port or a bare host.
create or replace function host_of(p_place text) returns text
language sql immutable as $$
  select lower(case
    when a like '[%' then substring(a from '^\[([^\]]*)')
    when a ~ '^[^:]*:[^:]*$' then split_part(a, ':', 1)
    else a end)
  from (select regexp_replace(substring(regexp_replace(p_place, '^[A-Za-z][A-Za-z0-9+.-]*://', '') from '^[^/?#]*'),
                              '^.*@', '') as a) authority
$$;
