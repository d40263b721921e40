-- The host of a place, in lower case. A place is a URL, host:port, host:port/udp, [address]:port or a bare host. An index
-- computes it for each finding: regular expressions, which cost far more than all else, are only used for rare places.
create or replace function host_of(p_place text) returns text
language plpgsql immutable as $$
declare
  v_text text := case
    when starts_with(p_place, 'http://') then substr(p_place, 8)
    when starts_with(p_place, 'https://') then substr(p_place, 9)
    when strpos(p_place, '://') > 0 then regexp_replace(p_place, '^[A-Za-z][A-Za-z0-9+.-]*://', '')
    else p_place end;
  v_colon int;
begin
  v_text := split_part(split_part(split_part(v_text, '/', 1), '?', 1), '#', 1);
  if strpos(v_text, '@') > 0 then
    v_text := regexp_replace(v_text, '^.*@', '');
  end if;
  if starts_with(v_text, '[') then
    return lower(substring(v_text from '^\[([^\]]*)'));
  end if;
  v_colon := strpos(v_text, ':');
  if v_colon > 0 and strpos(substr(v_text, v_colon + 1), ':') = 0 then
    v_text := left(v_text, v_colon - 1);
  end if;
  return lower(v_text);
end $$;
