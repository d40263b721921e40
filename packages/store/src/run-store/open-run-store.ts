import type { RunStore } from '@scanfarm/contracts'
import { openPool, type ConnectionOptions, type StoreLog } from '../connection.ts'
import { makeRunStore } from './make-run-store.ts'

export interface RunStoreOptions extends ConnectionOptions {
  /** How long calls wait for a database that is away before they reject; default 10 minutes. */
  readonly outageMs?: number
  readonly log?: StoreLog
}

export const DEFAULT_OUTAGE_MS = 600_000

/**
 * The worker's side on a pool of its own (2 connections are enough: calls of a kind share statements). A login that
 * has only the role `scanfarm_worker` will do, and a transaction pooler may stand in between. Disposing rejects what
 * still waits.
 */
export async function openRunStore(options: RunStoreOptions): Promise<RunStore & AsyncDisposable> {
  const closing = new AbortController()
  const pool = openPool(options, options.log)
  const persistence = {
    outageMs: options.outageMs ?? DEFAULT_OUTAGE_MS,
    signal: closing.signal,
    log: options.log,
  }
  return {
    ...makeRunStore(pool, persistence),
    [Symbol.asyncDispose]: async () => {
      closing.abort(new Error('the run store is closed'))
      await pool.end()
    },
  }
}
