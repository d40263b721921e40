-- The record of a finding as its scanner wrote it.
create or replace function restore_raw(p_raw text, p_request text, p_response text) returns text
language sql immutable as $$
  select case when strpos(p_raw, chr(1)) = 0 then p_raw
    else replace(replace(p_raw, raw_marker(p_request), escape_json(p_request)),
                 raw_marker(p_response), escape_json(p_response)) end
$$;
