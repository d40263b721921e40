-- A target with the password of its URL replaced, as `withoutPassword` does it for lists.
create or replace function without_password(p_target text) returns text
language sql immutable parallel safe as $$
  select case when p_target like '%://%:%@%'
              then regexp_replace(p_target, '^([a-z][a-z0-9+.-]*://[^/?#@:]*:)[^/?#]*@', '\1***@', 'i')
              else p_target end
$$;
