import type { RunStore } from '@scanfarm/contracts'
import type pg from 'pg'
import { isMissingSchema, openPool, type ConnectionOptions, type StoreLog } from '../connection.ts'
import { guarded } from '../retry.ts'
import { demandSchema } from '../schema-version.ts'
import { makeRunStore } from './make-run-store.ts'

export interface RunStoreOptions extends ConnectionOptions {
  /** How long calls wait for a database that is away before they reject; default 10 minutes. */
  readonly outageMs?: number
  readonly log?: StoreLog
}

/** What a worker process opens. */
export interface WorkerStore extends RunStore, AsyncDisposable {
  /**
   * Identity of the farm. Tries once: rejects with `unavailable` when the database cannot be reached, and otherwise
   * when its schema is not the one of this program.
   */
  farmId(): Promise<string>
}

export const DEFAULT_OUTAGE_MS = 600_000

/**
 * The worker's side on a pool of its own (2 connections are enough: calls of a kind share statements). A login that
 * has only the role `scanfarm_worker` will do, and a transaction pooler may stand in between. Disposing rejects what
 * still waits.
 */
export async function openRunStore(options: RunStoreOptions): Promise<WorkerStore> {
  const closing = new AbortController()
  const pool = openPool(options, options.log)
  const persistence = {
    outageMs: options.outageMs ?? DEFAULT_OUTAGE_MS,
    signal: closing.signal,
    log: options.log,
  }
  return {
    ...makeRunStore(pool, persistence),
    ...guarded({ farmId: () => farmId(pool) }),
    [Symbol.asyncDispose]: async () => {
      closing.abort(new Error('the run store is closed'))
      await pool.end()
    },
  }
}

const farmId = async (pool: pg.Pool): Promise<string> => {
  try {
    const { rows } = await pool.query<{ farm: { farmId: string; schemaVersion: string } }>(
      'select worker.farm() as farm',
    )
    demandSchema(rows[0]?.farm.schemaVersion)
    return rows[0]?.farm.farmId ?? ''
  } catch (error) {
    if (isMissingSchema(error)) demandSchema(undefined)
    throw error
  }
}
