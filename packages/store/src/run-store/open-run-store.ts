import { randomBytes } from 'node:crypto'
import type { RunStore } from '@scanfarm/contracts'
import type pg from 'pg'
import { isMissingSchema, openPool, type ConnectionOptions, type StoreLog } from '../database/connection.ts'
import { guarded } from '../database/retry.ts'
import { demandSchema } from '../schema-version.ts'
import { makeRunStore } from './make-run-store.ts'

export interface RunStoreOptions extends ConnectionOptions {
  /** How long calls retry while the database is unreachable; default 10 minutes. */
  readonly outageMs?: number
  readonly log?: StoreLog
  /** That of another store of the same process; default a new one. */
  readonly secret?: string
}

/** The store of a worker process. */
export interface WorkerStore extends RunStore, AsyncDisposable {
  /**
   * Id of the farm. Does not retry: rejects with `unavailable` if the database cannot be reached, and with `SchemaError`
   * if it has another schema than this program needs.
   */
  farmId(): Promise<string>
}

export const DEFAULT_OUTAGE_MS = 600_000

/** The secret of a process, which cannot be guessed. */
export const newSecret = (): string => randomBytes(32).toString('base64url')

/**
 * The worker's side on its own pool (2 connections are enough, since calls of a kind share statements). Needs only the
 * role `scanfarm_worker` and works behind a transaction pooler. Disposing rejects waiting calls.
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
    ...makeRunStore(pool, persistence, options.secret ?? newSecret()),
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
