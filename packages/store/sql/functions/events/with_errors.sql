-- p_error and the errors of p_fired as one text.
create or replace function with_errors(p_error text, p_fired jsonb) returns text
language sql immutable as $$
  select concat_ws('; ', nullif(p_error, ''),
    (select string_agg(format('%s: %s', f ->> 'trigger_key', f ->> 'error'), '; ')
     from jsonb_array_elements(p_fired) f where f ->> 'outcome' = 'failed'))
$$;
