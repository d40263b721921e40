import type { ClaimedRun } from '@scanfarm/contracts'
import { pause } from './retry.ts'
import type { RunSource } from './source.ts'

export interface PolledSource extends RunSource {
  /** There may be a run: look now. */
  wake(): void
}

/** Queued runs, claimed straight from Postgres. */
export function createPolledSource(options: {
  claim(workerId: string, max: number): Promise<readonly ClaimedRun[]>
  /** Time between looks when nobody wakes it. */
  readonly pollMs: number
}): PolledSource {
  let woken = new AbortController()
  let claiming = false
  const claim = async (workerId: string, max: number) => {
    claiming = true
    try {
      return await options.claim(workerId, max)
    } finally {
      claiming = false
    }
  }
  return {
    get claiming() {
      return claiming
    },
    async next(workerId, max, signal) {
      // Taken before the look, so that a call of `wake` during it is not lost.
      const bell = woken
      const runs = await claim(workerId, max)
      if (runs.length > 0 || signal.aborted) return runs
      await pause(options.pollMs, AbortSignal.any([signal, bell.signal]))
      return []
    },
    wake() {
      woken.abort()
      woken = new AbortController()
    },
  }
}
