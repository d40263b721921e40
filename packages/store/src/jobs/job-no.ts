import type { Kysely } from 'kysely'
import type { Tables } from '../tables.ts'

/** Whether the text can be the public id of a job. */
export const isJobId = (text: string): boolean => /^[0-9a-f]{16}$/.test(text)

/** The number of a job by its public id; undefined for any other text. */
export const jobNoOf = async (db: Kysely<Tables>, jobId: string): Promise<number | undefined> =>
  isJobId(jobId)
    ? (await db.selectFrom('jobs').select('id').where('job_id', '=', jobId).executeTakeFirst())?.id
    : undefined
