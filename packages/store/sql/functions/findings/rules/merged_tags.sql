-- The tags of a scanner, of rules and of a person, without those that the person removed. Of more than p_most those of the
-- person stay.
create or replace function merged_tags(p_scan text[], p_ruled jsonb, p_added jsonb, p_removed jsonb, p_most int)
returns text[]
language sql immutable as $$
  select case when coalesce(p_ruled, p_added, p_removed) is null then p_scan else array(
    select tag from (
      select tag, min(n) as n from (
        select tag, n from unnest(p_scan) with ordinality as s(tag, n)
        union all
        select tag, 1000 + n from jsonb_array_elements_text(p_ruled) with ordinality as r(tag, n)
        union all
        select tag, 2000 + n from jsonb_array_elements_text(p_added) with ordinality as a(tag, n)) every
      where not coalesce(p_removed ? tag, false)
      group by tag order by coalesce(p_added ? tag, false) desc, 2 limit p_most) kept
    order by n) end
$$;
