import type { Kysely } from 'kysely'
import type { Tables } from '../tables.ts'

/** The number of a job by its public id. */
export const jobNoOf = async (db: Kysely<Tables>, jobId: string): Promise<number | undefined> =>
  (await db.selectFrom('jobs').select('id').where('job_id', '=', jobId).executeTakeFirst())?.id
