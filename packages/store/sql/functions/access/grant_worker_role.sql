-- Grants a role what a worker needs. An administrator calls it for a role that the migrating login may not create.
create or replace function grant_worker_role(p_role name) returns void
language plpgsql as $$
begin
  execute format('grant usage on schema worker to %I', p_role);
  execute format('grant execute on all functions in schema worker to %I', p_role);
end $$;
