import { isTerminal, type RunDetail } from '@scanfarm/contracts'
import type { Store } from '@scanfarm/store'
import type { Wake } from '../wake.ts'

const FIRST_POLL_MS = 20
const LONGEST_POLL_MS = 250

/** Watches a run until it has ended or `ms` are over; the run as it is then. */
export async function waitForEnd(
  runs: Pick<Store['runs'], 'find'>,
  wake: Wake,
  ref: string,
  ms: number,
): Promise<RunDetail | undefined> {
  const until = performance.now() + ms
  for (let pause = FIRST_POLL_MS; ; pause = Math.min(pause * 2, LONGEST_POLL_MS)) {
    const run = await runs.find(ref)
    const left = until - performance.now()
    if (run === undefined || isTerminal(run.status) || left <= 0) return run
    await wake.next(Math.min(pause, left))
  }
}
