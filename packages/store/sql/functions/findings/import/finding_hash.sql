-- The identity of a finding; null if what or where is missing: such a record equals no other. A fingerprint says where in
-- a file the finding is, so that the number of the line is not part of the identity.
create or replace function finding_hash(p_workspace text, p_info text, p_title text, p_value text, p_type text,
  p_fingerprint text)
returns bytea
language sql stable as $$
  select case
    when p_value = '' or coalesce(nullif(p_info, ''), p_title) = '' then null
    when coalesce(p_fingerprint, '') = ''
      then text_hash(p_workspace, coalesce(nullif(p_info, ''), p_title), place_of(p_value, p_type), p_type)
    else text_hash(p_workspace, coalesce(nullif(p_info, ''), p_title),
                   case p_type when 'file' then file_of(p_value) else place_of(p_value, p_type) end, p_type, p_fingerprint)
    end
$$;
