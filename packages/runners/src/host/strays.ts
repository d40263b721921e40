import { setTimeout as delay } from 'node:timers/promises'
import { closedCarriers } from './closed-processes.ts'
import { STARTING_MS, type Family } from './family.ts'
import { carries, listPids, readProcess, TICK_MS, ticksNow } from './process-table.ts'

/**
 * How long a process's start time is believed without looking again: shorter than pids need to come round at a
 * thousand new processes a second and the smallest usual limit of 32768 pids.
 */
const TRUST_MS = 5_000
/** Least time between two looks at the list of processes. Runs that end meanwhile share the next look. */
const PAUSE_MS = 10

/**
 * Finds processes of an ended run that had left their group. It runs at the end of every run, so it must not read the
 * whole process table: processes older than the run are remembered by pid, and those in the group of a command that
 * still runs are not strays. What remains is a handful.
 */
export class StrayFinder {
  readonly #known = new Map<number, { readonly startedTicks: number; readonly seenAt: number }>()
  readonly #origin = { ticks: ticksNow(), at: performance.now() }
  #lookedAt = -Infinity
  #nextLook: Promise<readonly number[]> | undefined

  /** The clock of the process table, now or a tick ago, without reading a file for it. */
  get ticks(): number {
    return this.#origin.ticks + Math.floor((performance.now() - this.#origin.at) / TICK_MS) - 1
  }

  /** Living processes of the attempt with this marker which started at or after `sinceTicks`. */
  async find(
    { marker, user }: Pick<Family, 'marker' | 'user'>,
    sinceTicks: number,
    commandGroups: ReadonlySet<number>,
  ): Promise<number[]> {
    const pids = await (this.#nextLook ??= this.#look())
    if (this.#known.size > 2 * pids.length) this.#known.clear()
    const found: number[] = []
    const closed: number[] = []
    let rest = pids.filter((pid) => !commandGroups.has(pid))
    for (const until = Date.now() + STARTING_MS; Date.now() < until; await delay(PAUSE_MS)) {
      const untold: number[] = []
      for (const pid of rest) {
        const isStray = this.#isStray(pid, marker, sinceTicks, commandGroups)
        if (isStray === 'untold') untold.push(pid)
        else if (isStray === 'closed') closed.push(pid)
        else if (isStray) found.push(pid)
      }
      if (untold.length === 0) break
      rest = untold
    }
    return [...found, ...(await closedCarriers(closed, marker, user))]
  }

  async #look(): Promise<readonly number[]> {
    await delay(Math.max(0, this.#lookedAt + PAUSE_MS - performance.now()))
    this.#nextLook = undefined
    this.#lookedAt = performance.now()
    return listPids()
  }

  #isStray(
    pid: number,
    marker: string,
    sinceTicks: number,
    groups: ReadonlySet<number>,
  ): boolean | 'untold' | 'closed' {
    const now = Date.now()
    const known = this.#known.get(pid)
    if (known !== undefined && known.startedTicks < sinceTicks && now - known.seenAt < TRUST_MS) return false
    const info = readProcess(pid)
    if (info === undefined) return false
    this.#known.set(pid, { startedTicks: info.startedTicks, seenAt: now })
    if (info.startedTicks < sinceTicks || info.dead || groups.has(info.group)) return false
    return carries(info, marker)
  }
}
