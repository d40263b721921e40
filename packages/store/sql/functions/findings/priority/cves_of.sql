-- The CVEs that the identifier and the tags of a finding name, at most 50.
create or replace function cves_of(p_info text, p_tags text[]) returns text[]
language plpgsql stable as $$
declare
  v_text text := upper(p_info || ' ' || array_to_string(p_tags, ' '));
begin
  if strpos(v_text, 'CVE-') = 0 then
    return '{}';
  end if;
  return array(
    select distinct m[1] from regexp_matches(v_text, '\m(CVE-[0-9]{4}-[0-9]{4,19})\M', 'g') as m order by 1 limit 50);
end $$;
