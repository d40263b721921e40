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

/**
 * Time between two claims while runs are short. Larger groups cost less, but more runs are ahead, and a small job waits
 * longer for the next claim.
 */
const GROUP_MS = 25
/** A claim may take longer than the last ones did. */
const CLAIM_FACTOR = 1.5
/** What counts of a longer claim at the next one. */
const CLAIM_DECAY = 0.8
/** So many runs decide how long runs are. */
const RECENT_RUNS = 8

/** How many runs are claimed ahead of free slots: as many as end while a claim is made. */
export class RunsAhead {
  readonly #slots: number
  readonly #most: number
  readonly #aheadMs: number
  /** How long runs and claims have taken lately. */
  #runMs: number | undefined
  #claimMs = 0
  #endedAt = 0

  constructor(slots: number, aheadMs: number) {
    this.#slots = slots
    this.#most = Math.max(slots * AHEAD_PER_SLOT, LEAST_AHEAD)
    this.#aheadMs = aheadMs
  }

  /** The work of a run is over that began at this time. */
  ended(began: number): void {
    this.#endedAt = performance.now()
    const ms = this.#endedAt - began
    this.#runMs = this.#runMs === undefined ? ms : this.#runMs + (ms - this.#runMs) / RECENT_RUNS
  }

  /** A claim took this long, also because it waited for runs. */
  claimed(ms: number): void {
    this.#claimMs = Math.min(Math.max(ms, this.#claimMs * CLAIM_DECAY), this.#aheadMs)
  }

  /** How many runs may be claimed now, when so many slots are free and so many runs wait for one. */
  capacity(free: number, waiting: number): number {
    return free + Math.round(this.#endingIn(this.#claimMs * CLAIM_FACTOR + GROUP_MS)) - waiting
  }

  /** The next claim is made when more slots than this are free. */
  group(): number {
    return Math.min(this.#endingIn(GROUP_MS), this.#most / 2)
  }

  /** How many runs end in this time when no slot is free. */
  #endingIn(ms: number): number {
    if (this.#runMs === undefined) return 0
    // Those that run now may be longer.
    const runMs = Math.max(this.#runMs, performance.now() - this.#endedAt)
    return Math.min((this.#slots * Math.min(ms, this.#aheadMs)) / runMs, this.#most)
  }
}
