-- The data of an event of the system itself: beyond 64 KiB only fields of up to 4 KiB are kept.
create or replace function bounded_event_data(p_data text) returns text
language sql immutable as $$
  select case when octet_length(p_data) <= 65536 then p_data
    else (select json_object_agg(f.key, f.value) from (
            select key, value from json_each(p_data::json) where octet_length(value::text) <= 4096
            union all select 'truncated', 'true'::json union all select 'bytes', to_json(octet_length(p_data))) f)::text
    end
$$;
