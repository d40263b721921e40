import { backoffMs, isTerminal, type RunDetail } from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import type { RunQueue } from '@scanfarm/queue'
import type { Store } from '@scanfarm/store'
import type { Notifier } from './notifier.ts'

/** Sends cancels to the local slots of this process without going through the database. */
export class LocalCancels {
  readonly #listeners = new Set<(runIds: readonly number[]) => void>()

  cancel(runIds: readonly number[]): void {
    for (const listener of this.#listeners) listener(runIds)
  }

  onCancel(listener: (runIds: readonly number[]) => void): Disposable {
    this.#listeners.add(listener)
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) }
  }
}

interface CancelPaths {
  readonly queue: Pick<RunQueue, 'publishCancel'> | undefined
  readonly localCancels: LocalCancels
  readonly log: Logger
}

/**
 * Notifies the owners of running runs of a cancel. The request is already in the database, so a lost signal only delays
 * the cancel until the owner reads it there.
 */
export async function signalCancel(
  { queue, localCancels, log }: CancelPaths,
  runIds: readonly number[],
): Promise<void> {
  if (runIds.length === 0) return
  localCancels.cancel(runIds)
  try {
    await queue?.publishCancel(runIds.map((runId) => ({ runId })))
  } catch (error) {
    log.warn('a cancel could not be signalled; the owner will read it from the database', { error })
  }
}

/** Time that the owner of a run has after the grace period to kill processes, upload files and report the end. */
const ANSWER_MS = 4_000

/** How long after the request the owner of a run may report its end before a master ends the run. */
export const cancelDeadlineMs = (cancelGraceMs: number): number => cancelGraceMs + ANSWER_MS

const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 250

/** Polls a run until it ends or `ms` have passed, and returns its latest state. */
export async function waitForEnd(
  runs: Pick<Store['runs'], 'find'>,
  notifier: Notifier,
  ref: string,
  ms: number,
): Promise<RunDetail | undefined> {
  const until = performance.now() + ms
  for (let polls = 1; ; polls += 1) {
    const run = await runs.find(ref)
    const left = until - performance.now()
    if (run === undefined || isTerminal(run.status) || left <= 0) return run
    const wait = backoffMs(polls, { firstMs: FIRST_POLL_MS, mostMs: LONGEST_POLL_MS })
    await notifier.next(Math.min(wait, left))
  }
}
