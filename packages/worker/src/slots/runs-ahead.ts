import { PRIORITY_RANK, type ClaimedRun } from '@scanfarm/contracts'

/** The most urgent run first, then the oldest. */
export const byUrgency = (a: ClaimedRun, b: ClaimedRun): number =>
  PRIORITY_RANK[a.priority] - PRIORITY_RANK[b.priority] || a.runId - b.runId

/**
 * Which run begins next: the most urgent, of the job with the fewest of them, so that a small job does not wait for all
 * that a large one has ahead. Of equal jobs not the one that began last.
 */
export const nextAhead = (
  runs: readonly Pick<ClaimedRun, 'priority' | 'jobId'>[],
  lastJob: string | undefined,
): number => {
  const rank = Math.min(...runs.map(({ priority }) => PRIORITY_RANK[priority]))
  const jobs = new Map<string, { first: number; count: number }>()
  for (const [first, { priority, jobId }] of runs.entries())
    if (PRIORITY_RANK[priority] === rank) {
      const job = jobs.get(jobId) ?? { first, count: jobId === lastJob ? 0.5 : 0 }
      jobs.set(jobId, { ...job, count: job.count + 1 })
    }
  const [least] = [...jobs.values()].sort((a, b) => a.count - b.count)
  return least?.first ?? -1
}

/** Most runs ahead for each slot. */
const AHEAD_PER_SLOT = 8
/** The limit is at least this, so that a process with few slots also writes very short runs in groups. */
const LEAST_AHEAD = 128

/** A small job waits for the next claim: there are about this many while all that is ahead begins. */
const CLAIMS_PER_TIME = 6

interface Ended {
  readonly at: number
  /** 1 if the run was so short that its slot will be free again soon; nearly 0 for a long one. */
  readonly weight: number
}

/** How many runs are claimed ahead of free slots: as many as lately ended within the time that a claim takes. */
export class RunsAhead {
  readonly #most: number
  readonly #aheadMs: number
  /** The most recent ends of runs, oldest first. */
  #ended: Ended[] = []
  /** Runs that have begun since the last claim. */
  #begun = 0

  constructor(slots: number, aheadMs: number) {
    this.#most = Math.max(slots * AHEAD_PER_SLOT, LEAST_AHEAD)
    this.#aheadMs = aheadMs
  }

  /** The work of a run is over that began at this time. */
  ended(began: number): void {
    const at = performance.now()
    this.#ended.push({ at, weight: Math.min(1, this.#aheadMs / (at - began)) })
  }

  began(): void {
    this.#begun += 1
  }

  claimed(): void {
    this.#begun = 0
  }

  /** How many runs may be claimed now, when so many slots are free and so many runs wait for one. */
  capacity(free: number, waiting: number): number {
    const most = Math.min(Math.floor(this.#expected()), this.#most)
    const left = free + most - waiting
    // After very short runs too many are ahead. Small jobs do not wait until those have begun.
    return Math.max(left, Math.min(Math.floor(this.#begun / 2), left + most))
  }

  /** The next claim is made when more slots than this are free. */
  group(): number {
    return Math.min(this.#expected() / CLAIMS_PER_TIME, this.#most / 2)
  }

  #expected(): number {
    const since = performance.now() - this.#aheadMs
    this.#ended = this.#ended.filter(({ at }) => at > since)
    // Long runs that end together do not free their slots again within this time.
    return this.#ended.reduce((sum, { weight }) => sum + weight, 0)
  }
}
