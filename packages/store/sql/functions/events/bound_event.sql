-- Trigger: truncates an oversized event. Every writer has a lower limit. Without this one, an oversized event could
-- fail the statement of a worker that repeats it forever, or exhaust the memory of its readers.
create or replace function bound_event() returns trigger
language plpgsql as $$
begin
  if octet_length(new.data) > 1048576 then
    new.data := json_build_object('truncated', true, 'bytes', octet_length(new.data))::text;
  end if;
  new.topic := left(new.topic, 256);
  new.name := left(new.name, 256);
  new.source := left(new.source, 256);
  new.data_type := left(new.data_type, 256);
  return new;
end $$;
