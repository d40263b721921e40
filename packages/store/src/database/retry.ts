import { AppError } from '@scanfarm/contracts'
import { backOff, errorText } from '@scanfarm/platform'
import { isConflict, isConnectionLoss, isStatementTimeout, type StoreLog } from './connection.ts'

const BACKOFF = { firstMs: 50, mostMs: 2_000, jitter: true }
const CONFLICT_RETRIES = 8

export interface Persistence {
  /** How long to retry while the database is unreachable. */
  readonly outageMs: number
  readonly signal: AbortSignal
  readonly log?: StoreLog | undefined
}

/**
 * Executes a repeatable statement. Retries after conflicts and lost connections until `outageMs` have passed or the
 * signal aborts; then it rejects with the last error.
 */
export async function persist<T>(statement: () => Promise<T>, options: Persistence): Promise<T> {
  const giveUpAt = performance.now() + options.outageMs
  for (let attempt = 1; ; attempt++) {
    options.signal.throwIfAborted()
    try {
      return await statement()
    } catch (error) {
      if (isStatementTimeout(error))
        options.log?.('a database statement exceeded its time limit and was cancelled', {})
      const transient = isConflict(error) || isConnectionLoss(error)
      if (!transient || performance.now() >= giveUpAt) throw error
      options.log?.('a database statement is retried', { attempt, error: errorText(error) })
      // After an abort the next turn throws its reason.
      await backOff(attempt, BACKOFF, options.signal)
    }
  }
}

/** Executes one transaction, and repeats it after conflicts with others. */
export async function retryConflicts<T>(transaction: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transaction()
    } catch (error) {
      if (!isConflict(error) || attempt > CONFLICT_RETRIES) throw error
      await backOff(attempt, BACKOFF)
    }
  }
}

type Method = (...args: never[]) => Promise<unknown>

const guardMethod =
  (method: Method, name: string, log: StoreLog | undefined): Method =>
  async (...args) => {
    try {
      return await retryConflicts(() => method(...args))
    } catch (error) {
      if (isConnectionLoss(error)) {
        throw new AppError('unavailable', 'the database cannot be reached', {
          retryAfter: 2,
          cause: error,
        })
      }
      if (isStatementTimeout(error)) {
        log?.('a database statement exceeded its time limit and was cancelled', { call: name })
        throw new AppError(
          'unavailable',
          'the request exceeded the time limit of database statements: request less data, or try again later',
          { retryAfter: 10, cause: error },
        )
      }
      throw error
    }
  }

/**
 * The same functions, each of which is one transaction. Conflicts are retried; an unreachable database or a statement
 * timeout becomes the error `unavailable`.
 */
export const guarded = <T extends object>(group: T, log?: StoreLog): T =>
  Object.fromEntries(
    Object.entries(group).map(([name, method]) => [name, guardMethod(method as Method, name, log)]),
  ) as T
