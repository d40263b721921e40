import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Backoff, ClaimedRun, Wanted, WorkerTool } from '@scanfarm/contracts'
import { backOff, errorText, settlesWithin } from '@scanfarm/platform'
import type { Homes } from '../workspaces/homes.ts'
import { WorkFolders } from '../workspaces/work-folders.ts'
import { RunWriter } from '../record/run-writer.ts'
import { createPerformer, type Performer } from '../run/perform.ts'
import { EXECUTOR_LIMITS, EXECUTOR_TIMES, type ExecutorTimes } from './limits.ts'
import { CommitDelay } from './commit-delay.ts'
import { SlotPool } from './slot-pool.ts'
import { stopAfterMs, type ExecutorOptions, type ExecutorStatus } from './options.ts'
import { RunWork } from './run-work.ts'
import { byUrgency } from './runs-ahead.ts'
import type { Session } from './session.ts'
import { StopRequest } from './stop-request.ts'
import { TurnLimit } from './turn-limit.ts'
import { WorkerLease } from './worker-lease.ts'

/** Most runs that start in one turn of the event loop: a run without processes also ends in it. */
const MOST_STARTS = 16

/** Time after the deadline of a drain for killing commands and handing runs back. */
const KILL_MS = 5_000

/**
 * The slots of a process: takes runs from its source, executes and records them. While the database is unavailable,
 * runs continue and their records are kept in memory, within bounds.
 */
export class Executor implements AsyncDisposable {
  readonly #options: ExecutorOptions
  readonly #times: ExecutorTimes
  readonly #executing = new Set<Promise<void>>()
  readonly #commitDelay = new CommitDelay()
  readonly #starts = new TurnLimit(MOST_STARTS)
  readonly #folders: WorkFolders
  readonly #lease: WorkerLease
  readonly #writer: RunWriter
  readonly #backoff: Backoff
  readonly #performer: Performer
  readonly #work: RunWork
  readonly #stopTaking = new AbortController()
  readonly #giveUp = new AbortController()
  readonly #joined = Promise.withResolvers<void>()
  readonly #stopRequest = new StopRequest()
  readonly #slots: SlotPool
  /** Aborted to ask for runs at once. */
  #ask = new AbortController()
  /** Aborted while an operator wants no more claims. */
  #pause = new AbortController()
  #taking: Promise<void> | undefined
  #flushing: NodeJS.Timeout | undefined
  #change = Promise.withResolvers<void>()
  /** A master sent a signal during a claim: it may be about a run of that claim. */
  #cancelDuringClaim = false
  #drained: Promise<void> | undefined

  constructor(options: ExecutorOptions) {
    this.#options = options
    const limits = { ...EXECUTOR_LIMITS, ...options.limits }
    this.#times = { ...EXECUTOR_TIMES, ...options.times }
    const { store, log, intro, source, folder, users } = options
    this.#folders = new WorkFolders(folder, users?.sample)
    const backoff = { firstMs: this.#times.retryFirstMs, mostMs: this.#times.retryMostMs }
    this.#backoff = backoff
    this.#writer = new RunWriter({ store, log, backoff, giveUp: this.#giveUp.signal })
    this.#slots = new SlotPool({
      slots: intro.slots,
      aheadMs: this.#times.aheadMs,
      takesRuns: () => this.#takesRuns(),
      askForRuns: () => this.#askForRuns(),
      begin: (session) => this.#begin(session),
      changed: () => this.#changed(),
    })
    const { sessions } = this.#slots
    this.#performer = createPerformer({
      options,
      workFolders: this.#folders,
      limits,
      times: this.#times,
      backoff,
      slots: this.#slots,
    })
    this.#work = new RunWork(options, {
      folders: this.#folders,
      performer: this.#performer,
      writer: this.#writer,
      limits,
      times: this.#times,
      onWorkOver: async (session, began) => {
        this.#freeSlot(session, began)
        await this.#delayCommit()
      },
      onLost: () => this.#lease.recheckSoon(),
    })
    this.#lease = new WorkerLease({
      store,
      intro,
      log,
      sessions,
      cancelPollMs: this.#times.cancelPollMs,
      stopAfterMs: options.stopAfterLease === true ? stopAfterMs(options) : undefined,
      claiming: () => source.claiming,
      draining: () => this.#stopTaking.signal.aborted,
      handBack: (keys) => this.#writer.handBack(keys),
      onAnswer: () => this.#writer.noteSuccess(),
      onWanted: (wanted, drainMs) => this.#follow(wanted, drainMs),
      onScopes: (version) => this.#performer.noteScopes(version),
      onJoined: () => {
        this.#joined.resolve()
        this.#changed()
      },
    })
  }

  /** Does not need the database to be available. Throws when runs could not work in the work folder. */
  start(): void {
    this.#options.log.debug('work folder of runs', { folder: this.#folders.base })
    this.#lease.start()
    this.#taking ??= this.#takeRuns()
    this.#flushing ??= setInterval(() => {
      this.#writer.flush(this.#slots.sessions)
      this.#slots.handBackWaiting(this.#stopTaking.signal.aborted)
    }, this.#times.flushMs / 2)
  }

  /** Resolves when the farm knows this process for the first time: it answers nothing to others. */
  get joined(): Promise<void> {
    return this.#joined.promise
  }

  get status(): ExecutorStatus {
    const { workerId, silenceMs } = this.#lease
    const { slots } = this.#options.intro
    return {
      joined: workerId !== undefined,
      workerId,
      slots,
      busy: this.#slots.working + this.#slots.loops.taken,
      paused: this.#pause.signal.aborted,
      silenceMs,
    }
  }

  /** The folder that contains the work folders of runs. Throws when commands could not enter any. */
  get folder(): string {
    return this.#folders.base
  }

  /** Homes of commands that outlast runs, if any. */
  get homes(): Homes | undefined {
    return this.#options.homes
  }

  /** Replaces the capabilities that this process offers. */
  offer(capabilities: readonly string[]): void {
    this.#lease.offer(capabilities)
  }

  /** Replaces the programs that this process reports. */
  report(tools: readonly WorkerTool[]): void {
    this.#lease.report(tools)
  }

  /**
   * Cancels of these runs may have been requested, or somebody follows their logs. The signal is only a hint, because
   * other programs than masters can send it: the next heartbeat follows soon and returns what is in Postgres.
   */
  checkCancels(runIds: readonly number[]): void {
    this.#cancelDuringClaim ||= this.#options.source.claiming
    const ids = new Set(runIds)
    for (const { key } of this.#slots.sessions) if (ids.has(key.runId)) return this.#lease.recheckSoon()
  }

  /** Signals may have been missed. */
  checkAll(): void {
    this.checkCancels([...this.#slots.sessions].map(({ key }) => key.runId))
  }

  /** An operator may want something else of this worker: the next heartbeat follows soon and returns it. */
  checkWanted(workerIds: readonly string[]): void {
    const { workerId } = this.#lease
    if (workerId !== undefined && workerIds.includes(workerId)) this.#lease.recheckSoon()
  }

  /** An operator may have ended a pause. */
  checkPause(): void {
    if (this.#pause.signal.aborted) this.#lease.recheckSoon()
  }

  /** Resolves when an operator wants the program to end and has it wait no longer for its runs; the caller drains. */
  get stopRequested(): Promise<'stop requested'> {
    return this.#stopRequest.requested
  }

  /**
   * Takes no more runs and waits for those that are executing, at most this long; the rest is killed and handed back.
   * Then gives up the lease. A second call waits for the first.
   */
  drain(deadlineMs: number): Promise<void> {
    return (this.#drained ??= this.#drain(deadlineMs))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.drain(0)
  }

  async #drain(deadlineMs: number): Promise<void> {
    const { log, store } = this.#options
    this.#stopTaking.abort()
    this.#commitDelay.end()
    this.#changed()
    log.info('draining', { runs: this.#slots.sessions.size, deadline_ms: deadlineMs })
    this.#slots.handBackWaiting(true)
    this.#endBatches()
    const ended = this.#allEnded()
    if (!(await settlesWithin(ended, deadlineMs))) {
      for (const session of this.#slots.sessions) session.stop('drain')
      if (!(await settlesWithin(ended, KILL_MS))) log.error('runs could not be stopped in time')
    }
    this.#giveUp.abort()
    clearInterval(this.#flushing)
    await this.#lease[Symbol.asyncDispose]()
    this.#stopRequest[Symbol.dispose]()
    await this.#performer[Symbol.asyncDispose]()
    await this.#folders[Symbol.asyncDispose]()
    // Read now: this process may have joined while the drain waited.
    const { workerId } = this.#lease
    if (workerId === undefined) return
    await store.leave(workerId).catch((error: unknown) => {
      log.warn('could not release the lease of this worker; it will expire', { reason: errorText(error) })
    })
  }

  async #allEnded(): Promise<void> {
    await this.#taking
    while (this.#executing.size > 0) await Promise.all(this.#executing)
  }

  #follow(wanted: Wanted, drainMs: number): void {
    if (wanted !== 'running') this.#pause.abort()
    else if (this.#pause.signal.aborted) this.#pause = new AbortController()
    if (wanted === 'stopped') {
      this.#stopRequest.waitFor(drainMs)
      this.#endBatches()
    }
    this.#changed()
  }

  /** This process stops soon: what batches have not begun goes to others. */
  #endBatches(): void {
    for (const session of this.#slots.sessions) session.endSoon()
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  async #takeRuns(): Promise<void> {
    const { source, log } = this.#options
    const { loops } = this.#slots
    const { signal } = this.#stopTaking
    for (let failures = 0; !signal.aborted;) {
      const { workerId } = this.#lease
      // Few free slots are left alone until they are enough for a group.
      if (workerId === undefined || !this.#takesRuns() || this.#slots.capacity <= this.#slots.ahead.group()) {
        if (this.#slots.sessions.size === 0) this.#stopRequest.noteIdle()
        await this.#change.promise
        continue
      }
      // A change during the call counts: it may have freed every slot.
      const change = this.#change.promise
      try {
        // A loop that waits for a free slot gets it at once if no run is found.
        const free = loops.areWanted ? 0 : Math.max(this.#slots.free, 0)
        this.#slots.awaited = free
        if (this.#ask.signal.aborted) this.#ask = new AbortController()
        const until = AbortSignal.any([signal, this.#pause.signal, this.#ask.signal])
        const asked = performance.now()
        const runs = await source.next(workerId, () => this.#slots.capacity, until, free)
        this.#slots.ahead.claimed(performance.now() - asked)
        for (const run of runs.toSorted(byUrgency)) this.#accept(run)
        this.#slots.awaited = 0
        const isGranted = runs.length === 0 && loops.noRuns()
        if (runs.length === 0 && free === 0 && !isGranted) await change
        // The runs begin before the next ones are asked for.
        await nextTurn()
        failures = 0
        if (this.#cancelDuringClaim) this.#lease.recheckSoon()
        this.#cancelDuringClaim = false
      } catch (error) {
        failures += 1
        log.warn('no runs could be taken', { reason: errorText(error), failures })
        await backOff(failures, this.#backoff, signal)
      }
    }
  }

  #takesRuns(): boolean {
    return (
      this.#lease.workerId !== undefined && !this.#pause.signal.aborted && !this.#stopTaking.signal.aborted
    )
  }

  #askForRuns(): void {
    this.#ask.abort()
    this.#changed()
  }

  #accept(run: ClaimedRun): void {
    const session = this.#work.open(run)
    if (run.cancelRequested) session.stop('cancel')
    // The claim was pending when the drain began.
    else if (this.#stopTaking.signal.aborted) session.stop('drain')
    else this.#performer.claimed(session)
    this.#slots.accept(session)
  }

  #begin(session: Session): void {
    const executed = this.#starts
      .enter()
      .then(() => this.#work.execute(session))
      .finally(() => {
        this.#slots.sessions.delete(session)
        this.#executing.delete(executed)
        this.#changed()
      })
    this.#executing.add(executed)
  }

  /** The work of a run has ended: its slot is free. */
  #freeSlot(session: Session, began: number): void {
    session.isFinishing = true
    if (session.stopped !== 'drain') this.#slots.ahead.ended(began)
    this.#slots.freed()
  }

  /** Waits for the ends of other runs, to be written with them, while some are executing. */
  async #delayCommit(): Promise<void> {
    if (this.#slots.working === 0 || this.#stopTaking.signal.aborted) this.#commitDelay.end()
    else await this.#commitDelay.wait()
  }
}
