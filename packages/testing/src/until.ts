import { setTimeout as delay } from 'node:timers/promises'
import { inspect } from 'node:util'

/** A machine with other work may take many seconds to start a program. */
const LIMIT_MS = 100_000
const MIN_POLL_MS = 10
const MAX_POLL_MS = 100
/** A long wait becomes longer by at most this share of it, and takes little processor time from what it waits for. */
const POLL_SHARE = 0.1

export interface UntilOptions {
  /** What is waited for, to be read after "until"; default: the place in the test that waits. */
  readonly what?: string
  readonly limitMs?: number
  /** Default: a tenth of the time since the wait began, from 10 to 100 ms. */
  readonly pollMs?: number
  /** Calls `poll` again when it throws; the last error is the cause of the rejection. */
  readonly despiteErrors?: boolean
}

interface Wait {
  readonly what: string
  readonly since: number
  last: unknown
}

const waits = new Set<Wait>()

const describe = ({ what, since, last }: Wait): string => {
  const seconds = ((performance.now() - since) / 1_000).toFixed(1)
  return `waits since ${seconds} s until ${what}; last: ${inspect(last, { depth: 4, breakLength: 120 })}`
}

/** What this process waits for at this moment, one line each. */
export const describeWaits = (): string[] => [...waits].map(describe)

const caller = (): string => {
  const frames = new Error().stack?.split('\n').slice(1) ?? []
  const frame = frames.find((line) => !line.includes(import.meta.filename))
  return frame?.trim().replace(`${process.cwd()}/`, '').replace('file://', '') ?? 'unknown'
}

type Found<T> = Exclude<T, undefined | false>

/**
 * Calls `poll` again and again until it returns something other than undefined and false, or until `good` accepts the
 * value, and returns it. Rejects after the limit, and when `poll` does.
 */
export async function until<T>(poll: () => T | Promise<T>, options?: UntilOptions): Promise<Found<T>>
export async function until<T>(
  poll: () => T | Promise<T>,
  good: (value: T) => boolean,
  options?: UntilOptions,
): Promise<T>
export async function until<T>(
  poll: () => T | Promise<T>,
  second?: UntilOptions | ((value: T) => boolean),
  third?: UntilOptions,
): Promise<T> {
  const good = typeof second === 'function' ? second : (value: T) => value !== undefined && value !== false
  const {
    what,
    limitMs = LIMIT_MS,
    pollMs,
    despiteErrors = false,
  } = (typeof second === 'function' ? third : second) ?? {}
  const wait: Wait = { what: what ?? caller(), since: performance.now(), last: undefined }
  waits.add(wait)
  try {
    for (;;) {
      try {
        const value = await poll()
        wait.last = value
        if (good(value)) return value
      } catch (error) {
        if (!despiteErrors) throw error
        wait.last = error
      }
      const waitedMs = performance.now() - wait.since
      if (waitedMs > limitMs) throw new Error(describe(wait), { cause: wait.last })
      await delay(pollMs ?? Math.min(Math.max(waitedMs * POLL_SHARE, MIN_POLL_MS), MAX_POLL_MS))
    }
  } finally {
    waits.delete(wait)
  }
}
