import { sql, type Kysely } from 'kysely'

/** A worker that records an event looks whether the run has it already, among as many as the run may raise. */
export const up = async (db: Kysely<unknown>): Promise<void> => {
  await sql`create index event_logs_run_id_event_id_idx on event_logs (run_id, event_id)`.execute(db)
}
