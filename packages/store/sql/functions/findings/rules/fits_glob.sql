-- Whether a text matches a glob with * and ?, ignoring case. Null matches every text.
create or replace function fits_glob(p_text text, p_glob text) returns boolean
language sql immutable as $$
  select p_glob is null
    or p_text ilike translate(regexp_replace(p_glob, '([\\%_])', '\\\1', 'g'), '*?', '%_')
$$;
