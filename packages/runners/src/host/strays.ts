import { belongsTo } from '../marker.ts'
import { listPids, readMarker, readProcess } from './process-table.ts'

/**
 * How long a process's start time is believed without looking again: shorter than pids need to come round at a
 * thousand new processes a second and the smallest usual limit of 32768 pids.
 */
const TRUST_MS = 5_000

/**
 * Finds processes of an ended run that had left their group. It runs at the end of every run, so it must not read the
 * whole process table: processes older than the run are remembered by pid, and those in the group of a command that
 * still runs are not strays. What remains is a handful.
 */
export class StrayFinder {
  readonly #known = new Map<number, { readonly startedTicks: number; readonly seenAt: number }>()

  /** Living processes of the attempt with this marker which started at or after `sinceTicks`. */
  find(marker: string, sinceTicks: number, commandGroups: ReadonlySet<number>): number[] {
    const now = Date.now()
    const pids = listPids()
    if (this.#known.size > 2 * pids.length) this.#known.clear()
    return pids.filter(
      (pid) => !commandGroups.has(pid) && this.#isStray(pid, marker, sinceTicks, commandGroups, now),
    )
  }

  #isStray(
    pid: number,
    marker: string,
    sinceTicks: number,
    groups: ReadonlySet<number>,
    now: number,
  ): boolean {
    const known = this.#known.get(pid)
    if (known !== undefined && known.startedTicks < sinceTicks && now - known.seenAt < TRUST_MS) return false
    const info = readProcess(pid)
    if (info === undefined) return false
    this.#known.set(pid, { startedTicks: info.startedTicks, seenAt: now })
    if (info.startedTicks < sinceTicks || info.dead || groups.has(info.group)) return false
    return belongsTo(readMarker(pid) ?? '', marker)
  }
}
