-- The hash of a list of texts.
create or replace function text_hash(variadic p_parts text[]) returns bytea
language sql stable as $$ select sha256(convert_to(to_jsonb(p_parts)::text, 'UTF8')) $$;
