import type { ClaimedRun } from '@scanfarm/contracts'

/** Where the runs of an executor come from: the queue in a worker, Postgres itself in a server. */
export interface RunSource {
  /**
   * Waits for runs and claims at most `max` of them for this worker; `[]` is an answer too. Called once at a time. May
   * reject; the caller asks again a little later. An abort ends the wait, but not a claim under way.
   */
  next(workerId: string, max: number, signal: AbortSignal): Promise<readonly ClaimedRun[]>
  /** A claim has been sent and its answer is not in: Postgres may know of runs that this process does not know yet. */
  readonly claiming: boolean
}
