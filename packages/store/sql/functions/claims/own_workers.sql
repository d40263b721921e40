-- The workers that joined with this secret: one process may have several.
create or replace function own_workers(p_secret text) returns text[]
language sql stable as $$ select array(select id from workers where secret_hash = secret_hash(p_secret)) $$;
