-- Who may execute functions. Applied whenever a function or this file changes; every statement can be repeated.

-- Postgres lets every role execute a new function until that right is revoked.
alter default privileges revoke execute on functions from public;
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid from pg_proc p
    where p.pronamespace in ('public'::regnamespace, 'worker'::regnamespace)
      and p.proowner = (select oid from pg_roles where rolname = current_user)
  loop
    execute format('revoke all on function %s from public', v_function);
  end loop;
end $$;

-- The role for the logins of workers. Where the migrating login may not create roles, an administrator creates it and
-- calls grant_worker_role('scanfarm_worker') in this database.
do $$
begin
  if not exists (select from pg_roles where rolname = 'scanfarm_worker') then
    create role scanfarm_worker nologin;
  end if;
exception
  -- Roles belong to the whole server: a migration of another database may create it at the same time.
  when duplicate_object or unique_violation then null;
  when insufficient_privilege then
    raise notice 'the role scanfarm_worker was not created: this login may not create roles';
end $$;

do $$
begin
  if exists (select from pg_roles where rolname = 'scanfarm_worker') then
    perform grant_worker_role('scanfarm_worker');
    alter default privileges in schema worker grant execute on functions to scanfarm_worker;
  end if;
end $$;
