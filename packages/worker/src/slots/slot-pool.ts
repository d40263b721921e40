import { LoopSlots } from './loop-slots.ts'
import { nextAhead, RunsAhead } from './runs-ahead.ts'
import type { Session } from './session.ts'

/**
 * A run frees its slot when its work is over, while its end is still being written. At most this many runs for each
 * slot may be in that state, in case the database is slow or unavailable. Short runs need capacity for those that wait and
 * for those that are being written, or else their slots wait for the database.
 */
const FINISHING_PER_SLOT = 16
const LEAST_FINISHING = 256

/** A run that was claimed ahead and has not begun after this time is handed back: runs have become longer. */
const WAIT_MS = 1_000

/** Most runs for each slot that wait for runs which execute their loops. Each may use a slot too many when it goes on. */
const RESTING_PER_SLOT = 2

interface Ports {
  readonly slots: number
  readonly aheadMs: number
  takesRuns(): boolean
  askForRuns(): void
  begin(session: Session): void
  changed(): void
}

/** The slots of a process and who uses them: runs, threads of their loops, and runs that were claimed ahead. */
export class SlotPool {
  readonly sessions = new Set<Session>()
  readonly loops: LoopSlots
  readonly ahead: RunsAhead
  /** Free slots when the pending wait for runs began. */
  awaited = 0
  readonly #ports: Ports
  /** Claimed ahead of a free slot. */
  readonly #waiting: Session[] = []
  #lastJob: string | undefined

  constructor(ports: Ports) {
    this.#ports = ports
    this.ahead = new RunsAhead(ports.slots, ports.aheadMs)
    this.loops = new LoopSlots({
      ...ports,
      free: () => this.free,
      onTaken: () => {
        if (this.free < this.awaited) ports.askForRuns()
      },
      onFreed: () => this.freed(),
    })
  }

  /** Runs that are being executed. */
  get working(): number {
    let working = -this.#waiting.length
    for (const session of this.sessions) if (!session.isFinishing && !session.resting) working += 1
    return working
  }

  /** Negative for a run that was just accepted ahead of a slot. */
  get free(): number {
    return this.#ports.slots - this.working - this.loops.taken
  }

  /** How many runs may be claimed now. */
  get capacity(): number {
    let finishing = 0
    for (const session of this.sessions) if (session.isFinishing) finishing += 1
    const mostFinishing = Math.max(this.#ports.slots * FINISHING_PER_SLOT, LEAST_FINISHING)
    if (finishing >= mostFinishing) return 0
    return this.ahead.capacity(this.free, this.#waiting.length)
  }

  accept(session: Session): void {
    this.sessions.add(session)
    if (session.signal.aborted || this.free >= 0) this.#begin(session)
    else this.#waiting.push(session)
  }

  /** Frees the slot of a run that waits for others, until the result is disposed of. Undefined: too many wait. */
  rest(session: Session): Disposable | undefined {
    let resting = 0
    for (const one of this.sessions) if (one.resting) resting += 1
    if (resting >= this.#ports.slots * RESTING_PER_SLOT) return undefined
    session.resting = true
    this.freed()
    return { [Symbol.dispose]: () => void (session.resting = false) }
  }

  /** A slot is free: runs come first. */
  freed(): void {
    while (this.free > 0) {
      const runs = this.#waiting.map(({ run }) => run)
      const [next] = this.#waiting.splice(nextAhead(runs, this.#lastJob), 1)
      if (next === undefined) break
      this.#begin(next)
    }
    this.loops.offer()
    this.#ports.changed()
  }

  #begin(session: Session): void {
    this.#lastJob = session.run.jobId
    this.#ports.begin(session)
  }

  /** Runs that wait for too long, or for nothing: they were cancelled or lost, or this process stops. */
  handBackWaiting(isDraining: boolean): void {
    const latest = performance.now() - WAIT_MS
    for (const session of this.#waiting.slice()) {
      if (!isDraining && !session.signal.aborted && session.acceptedAt > latest) continue
      session.stop('drain')
      this.#waiting.splice(this.#waiting.indexOf(session), 1)
      this.#ports.begin(session)
    }
  }
}
