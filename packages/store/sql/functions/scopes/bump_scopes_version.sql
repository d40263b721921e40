-- Tells masters and workers that what they know of scopes is old.
create or replace function bump_scopes_version() returns trigger
language plpgsql as $$
begin
  update scopes_version set version = version + 1;
  return null;
end $$;
