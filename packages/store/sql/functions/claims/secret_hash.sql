-- What is stored of the secret of a process.
create or replace function secret_hash(p_secret text) returns bytea
language sql stable parallel safe as $$ select sha256(convert_to(p_secret, 'UTF8')) $$;
