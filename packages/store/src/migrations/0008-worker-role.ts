import { sql, type Kysely } from 'kysely'

/**
 * The role `scanfarm_worker`: give it to the logins of worker processes. Where the migrating login may not create
 * roles, an administrator creates it and calls `grant_worker_role('scanfarm_worker')` in this database.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(ROLE).execute(db)
}

const ROLE = `
-- Functions may be executed by everybody unless that is taken back: for those to come, and for those that are there.
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

create function grant_worker_role(p_role name) returns void
language plpgsql as $$
begin
  execute format('grant usage on schema worker to %I', p_role);
  execute format('grant execute on all functions in schema worker to %I', p_role);
end $$;
revoke all on function grant_worker_role(name) from public;

do $$
begin
  if not exists (select from pg_roles where rolname = 'scanfarm_worker') then
    create role scanfarm_worker nologin;
  end if;
exception
  -- Roles belong to the whole server: another database may be making it at this moment.
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
`
