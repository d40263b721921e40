-- The host and port of a place, as host:port or host:port/udp; null: it names no port. URLs have the port of their scheme.
create or replace function endpoint_of(p_place text) returns text
language sql immutable as $$
  select host_of(p_place) || ':' || coalesce(
    substring(authority from '(?:^[^:\[\]]*|\]):([0-9]+)$') || coalesce(substring(p_place from '^[^/?#]*(/udp)$'), ''),
    case lower(substring(p_place from '^([A-Za-z]+)://')) when 'http' then '80' when 'https' then '443' end)
  from (select regexp_replace(substring(regexp_replace(p_place, '^[A-Za-z][A-Za-z0-9+.-]*://', '') from '^[^/?#]*'),
                              '^.*@', '') as authority) a
$$;
