import { DEFAULT_SCHEMA } from 'bullmq'
import pg from 'pg'

/**
 * BullMQ names its tables without a schema. The settings end with the transaction, so that they never reach another
 * client of a transaction pooler, and no startup parameter is needed, which poolers refuse. A crash may lose the last
 * messages, like a flush of Redis; the reconciler adds them again.
 */
const BEGIN = `begin; set local search_path = ${DEFAULT_SCHEMA}; set local synchronous_commit = off`

/** A pool each of whose queries is a transaction in the schema of BullMQ. */
export const openQueuePool = (options: pg.PoolConfig): pg.Pool => {
  const pool = new pg.Pool(options)
  const query = async (text: string, values?: unknown[]): Promise<pg.QueryResult> => {
    const client = await pool.connect()
    try {
      await client.query(BEGIN)
      const result = await client.query(text, values)
      await client.query('commit')
      client.release()
      return result
    } catch (error) {
      const isAnswer = error instanceof pg.DatabaseError
      const isRolledBack = isAnswer && (await client.query('rollback').then(() => true, () => false)) // prettier-ignore
      // A connection that was lost, or did not answer in time, must not return to the pool.
      client.release(!isRolledBack)
      throw error
    }
  }
  // The pool also accepts callbacks and query objects, which BullMQ and this package do not use.
  pool.query = query as typeof pool.query
  return pool
}
