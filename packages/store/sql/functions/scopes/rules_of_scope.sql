-- The part of a scope that decides, as JSON. A scope that was removed allows nothing.
create or replace function rules_of_scope(p_id bigint) returns jsonb
language sql stable as $$
  select coalesce(
    (select jsonb_build_object('id', id, 'name', name, 'allowed', allowed, 'denied', denied, 'valid_from', valid_from,
              'valid_until', valid_until, 'windows', windows, 'zone', zone, 'enforcement', enforcement)
     from scan_scopes where id = p_id),
    jsonb_build_object('id', p_id, 'name', '(removed)', 'allowed', '[]'::jsonb, 'denied', '[]'::jsonb,
      'valid_from', null, 'valid_until', null, 'windows', '[]'::jsonb, 'zone', 'UTC', 'enforcement', 'checked'))
$$;
