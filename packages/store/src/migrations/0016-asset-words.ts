import { sql, type Kysely } from 'kysely'

/** Assets are found by technology and port: what few or none of a million have must not take reading them all. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create index assets_technologies on assets using gin (technologies)`.execute(db)
  await sql`create index assets_ports on assets using gin (open_ports)`.execute(db)
}
