import { randomUUID } from 'node:crypto'
import type { HeartbeatReply, RunKey, RunStore, Wanted, WorkerIntro, WorkerTool } from '@scanfarm/contracts'
import { errorText, pause, settlesWithin, type Logger } from '@scanfarm/platform'
import { startTimer, type Session } from './session.ts'

export type Introduction = Omit<WorkerIntro, 'workerId' | 'wanted'>

export interface WorkerLeaseOptions {
  readonly store: Pick<RunStore, 'join' | 'heartbeat' | 'offer' | 'reportTools'>
  readonly intro: Introduction
  readonly sessions: ReadonlySet<Session>
  /** While runs are executing, cancel requests are queried this often. */
  readonly cancelPollMs: number
  /** Without a renewal for this long, runs are stopped as if the lease were lost; undefined: they continue. */
  readonly stopAfterMs?: number | undefined
  readonly log: Logger
  draining(): boolean
  /** A claim is pending: Postgres may list runs that are not known here yet. */
  claiming(): boolean
  /** Runs that Postgres lists for this process and that it does not execute. */
  handBack(keys: readonly RunKey[]): Promise<void>
  /** The store answered. */
  onAnswer(): void
  /** An operator wants something else than before, or stops the program: in `drainMs`, or after its last run. */
  onWanted(wanted: Wanted, drainMs: number): void
  /** Scopes or the never-scan list have this version. */
  onScopes(version: number): void
  /** The process has a new worker id to claim with. */
  onJoined(): void
}

const NO_TOOLS: readonly WorkerTool[] = []

/** Shortest time between two heartbeats, however many signals ask for one. */
const MIN_INTERVAL_MS = 200
/** Longest time that closing waits for a pending heartbeat. */
const CLOSE_MS = 1_000

const keyText = ({ runId, attempt }: RunKey): string => `${runId}:${attempt}`

/**
 * The lease of this process, and the comparison of its runs with those that Postgres lists for it. One statement renews
 * the lease and returns the runs, which are to be cancelled and whose logs are followed: runs that are missing are lost, runs that are unknown here
 * are handed back. A process whose lease was lost joins again under a new id.
 */
export class WorkerLease implements AsyncDisposable {
  readonly #options: WorkerLeaseOptions
  readonly #stop = new AbortController()
  #loop: Promise<void> | undefined
  #workerId: string | undefined
  #renewedAt = -Infinity
  #expiry: Disposable | undefined
  #recheck = new AbortController()
  /** Listed but unknown here at the last heartbeat; a run is handed back when that happens twice. */
  #unknownRuns = new Set<string>()
  #capabilities: readonly string[]
  #wanted: Wanted = 'running'
  /** While it is to stop: the time of this process until which it waits for its runs. */
  #drainUntil = -Infinity
  /** As Postgres knows them. */
  #offered: readonly string[]

  #tools = NO_TOOLS
  /** As Postgres knows them; a process that joins has none. */
  #reported = NO_TOOLS

  constructor(options: WorkerLeaseOptions) {
    this.#options = options
    this.#capabilities = this.#offered = options.intro.capabilities
  }

  /** `undefined` while Postgres does not know this process. */
  get workerId(): string | undefined {
    return this.#workerId
  }

  /** Milliseconds since the last renewal. */
  get silenceMs(): number {
    return performance.now() - this.#renewedAt
  }

  /** A write was refused or a master has sent a signal: sends the next heartbeat soon. */
  recheckSoon(): void {
    this.#recheck.abort()
  }

  /** What this process can do from now on; the next turn records it in Postgres. */
  offer(capabilities: readonly string[]): void {
    this.#capabilities = capabilities
  }

  /** Programs and their versions; the next turn records them in Postgres. */
  report(tools: readonly WorkerTool[]): void {
    this.#tools = tools
  }

  start(): void {
    this.#loop ??= this.#run()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    this.#expiry?.[Symbol.dispose]()
    if (this.#loop !== undefined) await settlesWithin(this.#loop, CLOSE_MS)
  }

  async #run(): Promise<void> {
    const { cancelPollMs, intro, log } = this.#options
    const { signal } = this.#stop
    while (!signal.aborted) {
      const began = performance.now()
      try {
        await this.#turn()
      } catch (error) {
        if (!signal.aborted)
          log.warn('the database did not answer the heartbeat', { reason: errorText(error) })
      }
      await pause(Math.min(cancelPollMs, intro.leaseMs / 3), AbortSignal.any([signal, this.#recheck.signal]))
      await pause(Math.max(0, began + MIN_INTERVAL_MS - performance.now()), signal)
    }
  }

  async #turn(): Promise<void> {
    const { intro, sessions } = this.#options
    const workerId = this.#workerId
    const mustRecheck = this.#recheck.signal.aborted
    // Reset before the heartbeat: a signal that arrives during it may be newer than the answer.
    if (mustRecheck) this.#recheck = new AbortController()
    if (workerId === undefined) return this.#acquire()
    await this.#recordNews(workerId)
    if (sessions.size === 0 && !mustRecheck && this.silenceMs < intro.leaseMs / 3) return
    await this.#renew(workerId)
  }

  async #acquire(): Promise<void> {
    const { store, intro, log, onJoined } = this.#options
    const workerId = randomUUID()
    const capabilities = this.#capabilities
    const sentAt = performance.now()
    const left = Math.ceil(this.#drainUntil - sentAt)
    const drainMs = left > 0 ? left : undefined
    await store.join({ ...intro, capabilities, workerId, wanted: this.#wanted, drainMs })
    this.#workerId = workerId
    this.#offered = capabilities
    this.#reported = NO_TOOLS
    this.#unknownRuns.clear()
    this.#renewed(sentAt)
    log.info('joined the farm', { worker_id: workerId, slots: intro.slots, lease_ms: intro.leaseMs })
    onJoined()
  }

  /** Both may change meanwhile. */
  async #recordNews(workerId: string): Promise<void> {
    const [capabilities, tools] = [this.#capabilities, this.#tools]
    const { store } = this.#options
    if (capabilities !== this.#offered) await store.offer(workerId, capabilities)
    this.#offered = capabilities
    if (tools !== this.#reported) await store.reportTools(workerId, tools)
    this.#reported = tools
  }

  async #renew(workerId: string): Promise<void> {
    const { store, intro, sessions, claiming, draining } = this.#options
    const expected = [...sessions].filter((session) => !session.isFinishing)
    const wasClaiming = claiming()
    // Some may wait for a slot.
    const busy = Math.min(expected.length, intro.slots)
    const sentAt = performance.now()
    const reply = await store.heartbeat(workerId, busy, draining())
    // The runs were stopped meanwhile: this process joins again.
    if (this.#workerId !== workerId) return this.#options.onAnswer()
    this.#renewed(sentAt)
    if (!reply.known) return this.#onLeaseLost()
    this.#options.onScopes(reply.scopesVersion ?? 0)
    this.#follow(reply.wanted ?? 'running', reply.drainMs ?? 0)
    await this.#compare(reply, expected, wasClaiming)
  }

  #follow(wanted: Wanted, drainMs: number): void {
    this.#drainUntil = performance.now() + drainMs
    const isNew = wanted !== this.#wanted
    this.#wanted = wanted
    if (isNew)
      this.#options.log.info('an operator changed what this worker does', { wanted, drain_ms: drainMs })
    if (isNew || wanted === 'stopped') this.#options.onWanted(wanted, drainMs)
  }

  #renewed(sentAt: number): void {
    this.#renewedAt = performance.now()
    this.#options.onAnswer()
    const { stopAfterMs } = this.#options
    if (stopAfterMs === undefined) return
    this.#expiry?.[Symbol.dispose]()
    if (this.#stop.signal.aborted) return
    const leftMs = Math.max(0, sentAt + stopAfterMs - performance.now())
    this.#expiry = startTimer(leftMs, () =>
      this.#onLeaseLost('this worker cannot renew its lease: its runs are stopped, and it joins again'),
    )
  }

  #onLeaseLost(what = 'this worker lost its lease: its runs are stopped, and it joins again'): void {
    const { sessions, log } = this.#options
    log.warn(what, { worker_id: this.#workerId, runs: sessions.size })
    this.#expiry?.[Symbol.dispose]()
    this.#workerId = undefined
    for (const session of sessions) session.stop('lost')
  }

  async #compare(reply: HeartbeatReply, expected: readonly Session[], wasClaiming: boolean): Promise<void> {
    const { sessions, claiming, log, handBack } = this.#options
    const listed = new Map(reply.runs.map((run) => [keyText(run), run]))
    for (const session of expected) {
      const run = listed.get(keyText(session.key))
      if (session.isFinishing) continue
      if (run === undefined) session.stop('lost')
      else {
        if (run.cancelRequested) session.stop('cancel')
        session.recorder.follow(run.followed)
      }
    }
    for (const session of sessions) listed.delete(keyText(session.key))
    const unknown = wasClaiming || claiming() ? [] : [...listed.values()]
    const unknownTwice = unknown.filter((run) => this.#unknownRuns.has(keyText(run)))
    this.#unknownRuns = new Set(unknown.map(keyText))
    if (unknownTwice.length === 0) return
    log.warn('runs that are unknown here are handed back', { runs: unknownTwice.map(({ runId }) => runId) })
    await handBack(unknownTwice.map(({ runId, attempt }) => ({ runId, attempt })))
  }
}
