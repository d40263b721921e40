-- The place of a finding or asset in one spelling: URLs without the default port of their scheme.
create or replace function place_of(p_value text, p_type text) returns text
language sql immutable as $$
  select case
    when p_type = 'file' then p_value
    -- Most places: none of the expressions below can match.
    when strpos(p_value, ':80') = 0 and strpos(p_value, ':443') = 0 and (p_type <> 'web' or strpos(p_value, '/') > 0)
      then p_value
    when p_value ~* '^http://[^/?#]+:80([/?#]|$)' then regexp_replace(p_value, '^(http://[^/?#]+):80(?=[/?#]|$)', '\1', 'i')
    when p_value ~* '^https://[^/?#]+:443([/?#]|$)'
      then regexp_replace(p_value, '^(https://[^/?#]+):443(?=[/?#]|$)', '\1', 'i')
    when p_value ~ '^([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):80$' then 'http://' || left(p_value, -3)
    when p_value ~ '^([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):443$' then 'https://' || left(p_value, -4)
    when p_type = 'web' and p_value ~ '^[^\s/:@]+$' then 'http://' || p_value
    else p_value end
$$;
