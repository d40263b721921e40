-- The record of a finding without the request and the response, which are columns. Short texts stay. Only a text
-- that occurs once is replaced, so that reading never makes a record larger than its columns together.
create or replace function shorten_raw(p_raw text, p_request text, p_response text) returns text
language plpgsql immutable as $$
declare
  v_short text := p_raw;
  v_text text;
  v_inside text;
begin
  if strpos(p_raw, chr(1)) > 0 then
    return p_raw;
  end if;
  foreach v_text in array array[p_response, p_request] loop
    v_inside := escape_json(v_text);
    if length(v_text) > 64 and length(v_short) - length(replace(v_short, v_inside, '')) = length(v_inside) then
      v_short := replace(v_short, v_inside, raw_marker(v_text));
    end if;
  end loop;
  return case when restore_raw(v_short, p_request, p_response) = p_raw then v_short else p_raw end;
end $$;
