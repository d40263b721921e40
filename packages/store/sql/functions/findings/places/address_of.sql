-- The address that a host is; null if it is a name.
create or replace function address_of(p_host text) returns inet
language plpgsql immutable as $$
begin
  if p_host !~ '^[0-9a-f.:]+$' then
    return null;
  end if;
  return p_host::inet;
exception when invalid_text_representation then
  return null;
end $$;
