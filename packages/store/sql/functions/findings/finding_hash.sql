-- The identity of a finding; null if what or where is missing: such a record equals no other.
create or replace function finding_hash(p_workspace text, p_info text, p_title text, p_value text, p_type text)
returns bytea
language sql stable as $$
  select case when p_value <> '' and coalesce(nullif(p_info, ''), p_title) <> ''
              then text_hash(p_workspace, coalesce(nullif(p_info, ''), p_title), place_of(p_value, p_type), p_type) end
$$;
