import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '@scanfarm/contracts'
import { isConflict, isConnectionLoss, isStatementTimeout, type StoreLog } from './connection.ts'

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 2_000
const CONFLICT_RETRIES = 8

/** Doubles up to the longest, with jitter so that a farm does not come back in step. */
const pauseMs = (retry: number): number =>
  Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** retry) * (0.5 + Math.random() / 2)

export interface Persistence {
  /** How long to go on trying while the database is away. */
  readonly outageMs: number
  readonly signal: AbortSignal
  readonly log?: StoreLog | undefined
}

/**
 * Runs a statement that may be repeated until it gets through: conflicts and lost connections are tried again with
 * growing pauses until `outageMs` have passed or the signal aborts; then it rejects with the last error.
 */
export async function persist<T>(statement: () => Promise<T>, options: Persistence): Promise<T> {
  const giveUpAt = performance.now() + options.outageMs
  for (let retry = 0; ; retry++) {
    options.signal.throwIfAborted()
    try {
      return await statement()
    } catch (error) {
      if (isStatementTimeout(error)) options.log?.('a database statement took too long and was ended', {})
      const transient = isConflict(error) || isConnectionLoss(error)
      if (!transient || performance.now() >= giveUpAt) throw error
      options.log?.('a database statement is tried again', { retry, error: String(error) })
      // An abort is told by the next turn of the loop, with its reason.
      await delay(pauseMs(retry), undefined, { signal: options.signal }).catch(() => undefined)
    }
  }
}

type Method = (...args: never[]) => Promise<unknown>

const guardMethod =
  (method: Method, name: string, log: StoreLog | undefined): Method =>
  async (...args) => {
    for (let retry = 0; ; retry++) {
      try {
        return await method(...args)
      } catch (error) {
        if (isConnectionLoss(error)) {
          throw new AppError('unavailable', 'the database cannot be reached now', {
            retryAfter: 2,
            cause: error,
          })
        }
        if (isStatementTimeout(error)) {
          log?.('a database statement took too long and was ended', { call: name })
          throw new AppError(
            'unavailable',
            'this takes the database longer than it may, so it was ended: ask for less at once, or try again later',
            { retryAfter: 10, cause: error },
          )
        }
        if (!isConflict(error) || retry >= CONFLICT_RETRIES) throw error
        await delay(pauseMs(retry))
      }
    }
  }

/**
 * The same group of functions, each of which is one transaction: conflicts are tried again, and an unreachable
 * database, or one that would take too long, becomes the refusal `unavailable`.
 */
export const guarded = <T extends object>(group: T, log?: StoreLog): T =>
  Object.fromEntries(
    Object.entries(group).map(([name, method]) => [name, guardMethod(method as Method, name, log)]),
  ) as T
