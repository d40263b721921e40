import { setTimeout as delay } from 'node:timers/promises'
import { findMarkedUnreadable } from './unreadable-processes.ts'
import { STARTING_MS, type ProcessTree } from './process-tree.ts'
import { hasMarker, listPids, readProcess, TICK_MS, ticksNow } from './process-table.ts'

/**
 * How long the start time of a pid is cached: shorter than pids take to wrap around at a thousand new processes a
 * second and the smallest usual limit of 32768 pids.
 */
const CACHE_MS = 5_000
/** Minimum time between two scans of the list of processes. Runs that end in between share the next scan. */
const SCAN_INTERVAL_MS = 10

/**
 * Finds processes of an ended run that left their process group. This happens at the end of every run, so it must not
 * read the whole process table: processes older than the run are cached by pid, and those in the group of a running
 * command are not orphans. A handful remains.
 */
export class OrphanFinder {
  readonly #known = new Map<number, { readonly startedTicks: number; readonly seenAt: number }>()
  readonly #origin = { ticks: ticksNow(), at: performance.now() }
  #scannedAt = -Infinity
  #nextScan: Promise<readonly number[]> | undefined

  /** The clock of the process table, at most one tick late, without reading a file. */
  get ticks(): number {
    return this.#origin.ticks + Math.floor((performance.now() - this.#origin.at) / TICK_MS) - 1
  }

  /** Living processes of the attempt with this marker which started at or after `sinceTicks`. */
  async find(
    { marker, user }: Pick<ProcessTree, 'marker' | 'user'>,
    sinceTicks: number,
    commandGroups: ReadonlySet<number>,
  ): Promise<number[]> {
    const pids = await (this.#nextScan ??= this.#scan())
    if (this.#known.size > 2 * pids.length) this.#known.clear()
    const found: number[] = []
    const unreadable: number[] = []
    let rest = pids.filter((pid) => !commandGroups.has(pid))
    for (const until = Date.now() + STARTING_MS; Date.now() < until; await delay(SCAN_INTERVAL_MS)) {
      const undecided: number[] = []
      for (const pid of rest) {
        const isOrphan = this.#isOrphan(pid, marker, sinceTicks, commandGroups)
        if (isOrphan === 'starting') undecided.push(pid)
        else if (isOrphan === 'unreadable') unreadable.push(pid)
        else if (isOrphan) found.push(pid)
      }
      if (undecided.length === 0) break
      rest = undecided
    }
    return [...found, ...(await findMarkedUnreadable(unreadable, marker, user))]
  }

  async #scan(): Promise<readonly number[]> {
    await delay(Math.max(0, this.#scannedAt + SCAN_INTERVAL_MS - performance.now()))
    this.#nextScan = undefined
    this.#scannedAt = performance.now()
    return listPids()
  }

  #isOrphan(
    pid: number,
    marker: string,
    sinceTicks: number,
    groups: ReadonlySet<number>,
  ): boolean | 'starting' | 'unreadable' {
    const now = Date.now()
    const known = this.#known.get(pid)
    if (known !== undefined && known.startedTicks < sinceTicks && now - known.seenAt < CACHE_MS) return false
    const info = readProcess(pid)
    if (info === undefined) return false
    this.#known.set(pid, { startedTicks: info.startedTicks, seenAt: now })
    if (info.startedTicks < sinceTicks || info.dead || groups.has(info.group)) return false
    return hasMarker(info, marker)
  }
}
