-- The identity of an asset. A web server is the same with and without the port of its scheme; the port itself
-- (without a URL) is another asset. Nothing is selected from a subquery: so Postgres computes it within the statement that
-- calls it, in a fraction of the time of a call.
create or replace function asset_hash(p_workspace text, p_value text, p_url text) returns bytea
language sql stable as $$
  select text_hash(p_workspace,
    case when p_url <> '' and place_of(p_url, '') !~* '^[a-z]+://[^/?#]*:[0-9]+([/?#]|$)'
         then regexp_replace(case when p_value ~* '^https?://' then place_of(p_value, '') else p_value end,
                             '^([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):(80|443)$', '\1')
         when p_value ~* '^https?://' then place_of(p_value, '')
         else p_value end,
    place_of(p_url, ''))
$$;
