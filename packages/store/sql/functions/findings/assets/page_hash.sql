-- The hash of a page in what a tool wrote, as `httpx -hash` names it. Null: it wrote none.
create or replace function page_hash(p_raw text) returns text
language sql immutable as $$
  select substring(p_raw from '"body_[a-z0-9]+":\s*"?[0-9A-Fa-f-]+')
$$;
