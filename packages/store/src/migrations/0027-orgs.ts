import { sql, type Kysely } from 'kysely'

/**
 * An organisation is a named set of workspaces. What no row assigns belongs to the default one, so that nothing has to
 * be written when a workspace comes into being.
 */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql.raw(TABLES).execute(db)
}

const TABLES = `
create table orgs (
  uuid uuid primary key,
  name text not null,
  description text not null,
  tags text[] not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);
create unique index orgs_name on orgs (lower(name));
insert into orgs (uuid, name, description, tags)
values ('00000000-0000-0000-0000-000000000001', 'default', 'Workspaces that no other organisation has', '{}');

create table org_workspaces (
  workspace text collate "C" primary key,
  org uuid not null references orgs on delete cascade
);
create index org_workspaces_org on org_workspaces (org, workspace);
`
