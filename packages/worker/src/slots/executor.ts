import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Backoff, ClaimedRun, Wanted, WorkerTool } from '@scanfarm/contracts'
import { backOff, errorText, settlesWithin } from '@scanfarm/platform'
import type { Homes } from '../workspaces/homes.ts'
import { WorkFolders } from '../workspaces/work-folders.ts'
import { RunWriter } from '../record/run-writer.ts'
import { createPerformer, type Performer } from '../run/perform.ts'
import { EXECUTOR_LIMITS, EXECUTOR_TIMES, type ExecutorTimes } from './limits.ts'
import { Gathering } from './gathering.ts'
import { stopAfterMs, type ExecutorOptions, type ExecutorStatus } from './options.ts'
import { RunWork } from './run-work.ts'
import { byUrgency, RunsAhead } from './runs-ahead.ts'
import type { Session } from './session.ts'
import { StopRequest } from './stop-request.ts'
import { TurnLimit } from './turn-limit.ts'
import { WorkerLease } from './worker-lease.ts'

/**
 * A run frees its slot when its work is over, while its end is still being written. At most this many runs for each
 * slot may be in that state, in case the database is slow or unavailable. Short runs need room for those that gather and
 * for those that are being written, or else their slots wait for the database.
 */
const ENDINGS_PER_SLOT = 16
const LEAST_ENDINGS = 256

/** A run that was claimed ahead and has not begun after this time is handed back: runs have become longer. */
const WAIT_MS = 1_000

/** Most runs that begin in one turn of the event loop: a run without processes also ends in it. */
const MOST_BEGINNINGS = 16

/** Time after the deadline of a drain for killing commands and handing runs back. */
const KILL_MS = 5_000

/**
 * The slots of a process: takes runs from its source, executes and records them. While the database is unavailable,
 * runs continue and their records are kept in memory, within bounds.
 */
export class Executor implements AsyncDisposable {
  readonly #options: ExecutorOptions
  readonly #times: ExecutorTimes
  readonly #sessions = new Set<Session>()
  readonly #executing = new Set<Promise<void>>()
  /** Claimed ahead of a free slot. */
  readonly #waiting: Session[] = []
  readonly #ahead: RunsAhead
  readonly #gathering = new Gathering()
  readonly #beginnings = new TurnLimit(MOST_BEGINNINGS)
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
    this.#ahead = new RunsAhead(intro.slots, this.#times.aheadMs)
    this.#performer = createPerformer(options, this.#folders, limits, this.#times, backoff)
    this.#work = new RunWork(options, {
      folders: this.#folders,
      performer: this.#performer,
      writer: this.#writer,
      limits,
      times: this.#times,
      onWorkOver: async (session, began) => {
        this.#freeSlot(session, began)
        await this.#gather()
      },
      onLost: () => this.#lease.recheckSoon(),
    })
    this.#lease = new WorkerLease({
      store,
      intro,
      log,
      sessions: this.#sessions,
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
      this.#writer.flush(this.#sessions)
      this.#handBackWaiting()
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
      busy: this.#working(),
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
    for (const { key } of this.#sessions) if (ids.has(key.runId)) return this.#lease.recheckSoon()
  }

  /** Signals may have been missed. */
  checkAll(): void {
    this.checkCancels([...this.#sessions].map(({ key }) => key.runId))
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
    return this.#stopRequest.due
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
    this.#gathering.end()
    this.#changed()
    log.info('draining', { runs: this.#sessions.size, deadline_ms: deadlineMs })
    this.#handBackWaiting()
    const ended = this.#allEnded()
    if (!(await settlesWithin(ended, deadlineMs))) {
      for (const session of this.#sessions) session.stop('drain')
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
    if (wanted === 'stopped') this.#stopRequest.waitFor(drainMs)
    this.#changed()
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  async #takeRuns(): Promise<void> {
    const { source, log } = this.#options
    const { signal } = this.#stopTaking
    for (let failures = 0; !signal.aborted;) {
      const { workerId } = this.#lease
      // Few free places are left until they are enough for a group.
      const isPaused = this.#pause.signal.aborted
      if (workerId === undefined || isPaused || this.#room() <= this.#ahead.most() / 2) {
        if (this.#sessions.size === 0) this.#stopRequest.noteIdle()
        await this.#change.promise
        continue
      }
      // A change during the call counts: it may have freed every slot.
      const change = this.#change.promise
      try {
        const free = Math.max(this.#options.intro.slots - this.#working(), 0)
        const until = AbortSignal.any([signal, this.#pause.signal])
        const runs = await source.next(workerId, () => this.#room(), until, free)
        for (const run of runs.toSorted(byUrgency)) this.#accept(run)
        if (runs.length === 0 && free === 0) await change
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

  /** Runs that are being executed. */
  #working(): number {
    let working = -this.#waiting.length
    for (const session of this.#sessions) if (!session.ending) working += 1
    return working
  }

  /** How many runs may be claimed now. */
  #room(): number {
    const { slots } = this.#options.intro
    const waiting = this.#waiting.length
    const working = this.#working()
    const endings = this.#sessions.size - working - waiting
    const mostEndings = Math.max(slots * ENDINGS_PER_SLOT, LEAST_ENDINGS)
    return endings < mostEndings ? slots + this.#ahead.most() - working - waiting : 0
  }

  #accept(run: ClaimedRun): void {
    const session = this.#work.open(run)
    if (run.cancelRequested) session.stop('cancel')
    // The claim was pending when the drain began.
    else if (this.#stopTaking.signal.aborted) session.stop('drain')
    this.#sessions.add(session)
    if (session.signal.aborted || this.#working() <= this.#options.intro.slots) this.#begin(session)
    else this.#waiting.push(session)
  }

  #begin(session: Session): void {
    const executed = this.#beginnings
      .enter()
      .then(() => this.#work.execute(session))
      .finally(() => {
        this.#sessions.delete(session)
        this.#executing.delete(executed)
        this.#changed()
      })
    this.#executing.add(executed)
  }

  /** The work of a run has ended: its slot is free. */
  #freeSlot(session: Session, began: number): void {
    session.ending = true
    if (session.stopped !== 'drain') this.#ahead.ended(began)
    while (this.#working() < this.#options.intro.slots) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#begin(next)
    }
    this.#changed()
  }

  /** Waits for the ends of other runs while some are executing. */
  async #gather(): Promise<void> {
    if (this.#working() === 0 || this.#stopTaking.signal.aborted) this.#gathering.end()
    else await this.#gathering.ends()
  }

  /** Runs that wait for too long, or for nothing: they were cancelled or lost, or this process stops. */
  #handBackWaiting(): void {
    const isDraining = this.#stopTaking.signal.aborted
    const latest = performance.now() - WAIT_MS
    for (const session of this.#waiting.slice()) {
      if (!isDraining && !session.signal.aborted && session.acceptedAt > latest) continue
      session.stop('drain')
      this.#waiting.splice(this.#waiting.indexOf(session), 1)
      this.#begin(session)
    }
  }
}
