import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '@scanfarm/platform'

const FIRST_WAIT_MS = 200
const LONGEST_WAIT_MS = 5_000

export interface Attempt<T> {
  /** For the log, such as `the database`. */
  readonly what: string
  readonly log: Logger
  readonly stopping: AbortSignal
  attempt(): Promise<T>
  /** Whether it may go better a little later; any other error is final. */
  isTemporary(error: unknown): boolean
}

/** Tries with growing waits, for as long as it takes. */
export async function untilReady<T>(options: Attempt<T>): Promise<T> {
  const { what, log, stopping } = options
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 2, LONGEST_WAIT_MS)) {
    stopping.throwIfAborted()
    try {
      return await options.attempt()
    } catch (error) {
      if (!options.isTemporary(error)) throw error
      const reason = Error.isError(error) ? error.message : String(error)
      log.warn('waiting for what this worker needs', { what, reason, retry_ms: waitMs })
    }
    await delay(waitMs, undefined, { signal: stopping })
  }
}
