-- Trigger: keeps the stored form of an unchanged record.
create or replace function store_asset_once() returns trigger
language plpgsql as $$
begin
  new.raw_json_data := old.raw_json_data;
  return new;
end $$;
