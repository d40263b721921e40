-- The identity of an asset. A web server is the same with and without the port of its scheme; the port itself
-- (without a URL) is another asset.
create or replace function asset_hash(p_workspace text, p_value text, p_url text) returns bytea
language sql stable as $$
  select text_hash(p_workspace,
    case when u.url <> '' and u.url !~* '^[a-z]+://[^/?#]*:[0-9]+([/?#]|$)'
         then regexp_replace(case when p_value ~* '^https?://' then place_of(p_value, '') else p_value end,
                             '^([^\s/:@]+|\[[0-9A-Fa-f:.]+\]):(80|443)$', '\1')
         when p_value ~* '^https?://' then place_of(p_value, '')
         else p_value end,
    u.url)
  from (select case when p_url = '' then '' else place_of(p_url, '') end as url) u
$$;
