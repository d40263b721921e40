import { randomUUID } from 'node:crypto'
import type { HeartbeatReply, RunKey, RunStore, WorkerIntro } from '@scanfarm/contracts'
import type { ExecutorLog } from './log.ts'
import { pause, reasonOf, settlesWithin } from './retry.ts'
import type { Session } from './session.ts'

export type Introduction = Omit<WorkerIntro, 'workerId'>

export interface PresenceOptions {
  readonly store: Pick<RunStore, 'join' | 'heartbeat' | 'offer'>
  readonly intro: Introduction
  readonly sessions: ReadonlySet<Session>
  /** While runs are under way, cancel requests are looked for this often. */
  readonly cancelPollMs: number
  readonly log: ExecutorLog
  draining(): boolean
  /** A claim is under way: Postgres may know of runs that are yet to be known here. */
  claiming(): boolean
  /** Runs that Postgres believes to be here, and that are not. */
  handBack(keys: readonly RunKey[]): Promise<void>
  /** The store answered. */
  onAnswer(): void
  /** There is a new identity to claim with. */
  onJoined(): void
}

/** Shortest time between two heartbeats, however many signals ask for one. */
const MIN_BEAT_MS = 200
/** A heartbeat to a database that is away is not waited for longer than this. */
const STOP_MS = 1_000

const keyText = ({ runId, attempt }: RunKey): string => `${runId}:${attempt}`

/**
 * Keeps this process known to Postgres, and believes Postgres about what it runs: one statement renews the lease and
 * brings cancel requests, runs that are no longer ours and runs that we know nothing of. A process that was given up
 * comes back under a new id, for its old one may be fenced off at any moment.
 */
export class Presence implements AsyncDisposable {
  readonly #options: PresenceOptions
  readonly #stop = new AbortController()
  #loop: Promise<void> | undefined
  #workerId: string | undefined
  #lastBeat = -Infinity
  #mustCheck = new AbortController()
  /** Listed and unknown at the last beat; only a second sighting counts. */
  #strangers = new Set<string>()
  #capabilities: readonly string[]
  /** As Postgres knows them. */
  #offered: readonly string[]

  constructor(options: PresenceOptions) {
    this.#options = options
    this.#capabilities = this.#offered = options.intro.capabilities
  }

  /** `undefined` while Postgres does not know this process. */
  get workerId(): string | undefined {
    return this.#workerId
  }

  /** Since the last answer, in milliseconds. */
  get silenceMs(): number {
    return performance.now() - this.#lastBeat
  }

  /** Something was refused as not ours, or a cancel was signalled: ask Postgres soon. */
  checkSoon(): void {
    this.#mustCheck.abort()
  }

  /** What this process can do from now on; it is recorded in Postgres with the next turn. */
  offer(capabilities: readonly string[]): void {
    this.#capabilities = capabilities
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    if (this.#loop !== undefined) await settlesWithin(this.#loop, STOP_MS)
  }

  /** One turn: joins, or beats when it is time to. */
  async turn(): Promise<void> {
    const { store, intro, sessions } = this.#options
    const workerId = this.#workerId
    const mustCheck = this.#mustCheck.signal.aborted
    // Before the heartbeat: a signal that comes during it may be newer than the answer.
    if (mustCheck) this.#mustCheck = new AbortController()
    if (workerId === undefined) return this.#join()
    if (this.#capabilities !== this.#offered) await this.#tellOffer(workerId)
    if (sessions.size === 0 && !mustCheck && this.silenceMs < intro.leaseMs / 3) return
    const expected = [...sessions].filter((session) => !session.ending)
    const claimed = this.#options.claiming()
    const reply = await store.heartbeat(workerId, expected.length, this.#options.draining())
    this.#answered()
    if (reply.known) await this.#compare(reply, expected, claimed)
    else this.#expelled()
  }

  async #run(): Promise<void> {
    const { cancelPollMs, intro, log } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      const began = performance.now()
      try {
        await this.turn()
      } catch (error) {
        if (!signal.aborted)
          log.warn('the database did not answer the heartbeat', { reason: reasonOf(error) })
      }
      await pause(
        Math.min(cancelPollMs, intro.leaseMs / 3),
        AbortSignal.any([signal, this.#mustCheck.signal]),
      )
      await pause(Math.max(0, began + MIN_BEAT_MS - performance.now()), signal)
    }
  }

  async #join(): Promise<void> {
    const { store, intro, log, onJoined } = this.#options
    const workerId = randomUUID()
    const capabilities = this.#capabilities
    await store.join({ ...intro, capabilities, workerId })
    this.#workerId = workerId
    this.#offered = capabilities
    this.#strangers.clear()
    this.#answered()
    log.info('joined the farm', { worker_id: workerId, slots: intro.slots, lease_ms: intro.leaseMs })
    onJoined()
  }

  async #tellOffer(workerId: string): Promise<void> {
    const capabilities = this.#capabilities
    await this.#options.store.offer(workerId, capabilities)
    this.#offered = capabilities
  }

  #answered(): void {
    this.#lastBeat = performance.now()
    this.#options.onAnswer()
  }

  #expelled(): void {
    const { sessions, log } = this.#options
    log.warn('this worker was given up: its runs are stopped, and it joins anew', {
      worker_id: this.#workerId,
      runs: sessions.size,
    })
    this.#workerId = undefined
    for (const session of sessions) session.stop('lost')
  }

  async #compare(reply: HeartbeatReply, expected: readonly Session[], claimed: boolean): Promise<void> {
    const { sessions, claiming } = this.#options
    const listed = new Map(reply.runs.map((run) => [keyText(run), run]))
    for (const session of expected) {
      const run = listed.get(keyText(session.key))
      if (session.ending) continue
      if (run === undefined) session.stop('lost')
      else if (run.cancelRequested) session.stop('cancel')
    }
    for (const session of sessions) listed.delete(keyText(session.key))
    const strangers = claimed || claiming() ? [] : [...listed.values()]
    const seenTwice = strangers.filter((run) => this.#strangers.has(keyText(run)))
    this.#strangers = new Set(strangers.map(keyText))
    if (seenTwice.length === 0) return
    this.#options.log.warn('runs that are not known here are handed back', {
      runs: seenTwice.map(({ runId }) => runId),
    })
    await this.#options.handBack(seenTwice.map(({ runId, attempt }) => ({ runId, attempt })))
  }
}
