-- Whether a result adds nothing but its number to a record that an earlier part of the same import has saved.
create or replace function is_repeat(p_id bigint, p_import uuid, p_known_severity text, p_severity text)
returns boolean
language sql stable as $$
  select p_import is not null and severity_rank(p_severity) >= severity_rank(p_known_severity)
         and exists (select from finding_sightings where finding_id = p_id and last_import = p_import)
$$;
