-- Whether a result adds nothing but its number to a record that an earlier part of the same import has saved.
create or replace function is_repeat(p_last_import uuid, p_import uuid, p_known_severity text, p_severity text)
returns boolean
language sql immutable as $$
  select p_import is not null and p_last_import is not distinct from p_import
         and severity_rank(p_severity) >= severity_rank(p_known_severity)
$$;
