import { setImmediate as nextTurn } from 'node:timers/promises'
import { outcomeOf, PRIORITY_RANK, type ClaimedRun, type Wanted, type WorkerTool } from '@scanfarm/contracts'
import { backOff, errorText, settlesWithin, type Backoff } from '@scanfarm/platform'
import { Mask } from '@scanfarm/engine'
import type { Homes } from '../workspaces/homes.ts'
import { WorkFolders } from '../workspaces/work-folders.ts'
import { clipped } from '../record/row-values.ts'
import { RunRecorder } from '../record/run-recorder.ts'
import { RunWriter } from '../record/run-writer.ts'
import { createPerformer, type Performer } from '../run/perform.ts'
import { EXECUTOR_LIMITS, EXECUTOR_TIMES, type ExecutorLimits, type ExecutorTimes } from './limits.ts'
import type { ExecutorOptions, RunEnding } from './options.ts'
import { Session, startTimer, verdictOf, type Verdict } from './session.ts'
import { TurnLimit } from './turn-limit.ts'
import { WorkerLease } from './worker-lease.ts'

export interface ExecutorStatus {
  /** Postgres knows this process. */
  readonly joined: boolean
  readonly workerId: string | undefined
  readonly slots: number
  readonly busy: number
  /** An operator wants no more claims. */
  readonly paused: boolean
  /** Milliseconds since the database last answered a heartbeat; normally at most a third of the lease. */
  readonly silenceMs: number
}

/**
 * A run frees its slot when its work is over, while its end is still being written. At most this many runs for each
 * slot may be in that state, in case the database is slow or unavailable. Short runs need room for those that gather and
 * for those that are being written, or else their slots wait for the database.
 */
const ENDINGS_PER_SLOT = 16
const LEAST_ENDINGS = 256

/** Most runs ahead for each slot. */
const AHEAD_PER_SLOT = 8
/** The limit is at least this, so that a process with few slots also writes very short runs in groups. */
const LEAST_AHEAD = 128
/** A run that was claimed ahead and has not begun after this time is handed back: runs have become longer. */
const WAIT_MS = 1_000

/** While other runs are executing, the end of a run waits this long for further ones, to be written with them. */
const GATHER_MS = 100

/** Most runs that begin in one turn of the event loop: a run without processes also ends in it. */
const MOST_BEGINNINGS = 16

/** UTF-16 units of a target or an error message in a line of the log. */
const LOGGED_CHARS = 1_000

/** Time after the deadline of a drain for killing commands and handing runs back. */
const KILL_MS = 5_000

/** Runs that have ended wait for others. */
interface Gathering {
  readonly ended: Promise<void>
  end(): void
}

interface Ended {
  readonly at: number
  /** 1 if the run was so short that its slot will be free again soon; nearly 0 for a long one. */
  readonly weight: number
}

/** Time for the end of commands before the lease ends, besides the one between TERM and KILL. */
const STOP_MARGIN_MS = 1_000

const stopAfterMs = ({ intro: { leaseMs }, graceMs = 0 }: ExecutorOptions): number =>
  Math.max(leaseMs / 2, leaseMs - graceMs - STOP_MARGIN_MS)

/** The most urgent run first, then the oldest. */
const byUrgency = (a: ClaimedRun, b: ClaimedRun): number =>
  PRIORITY_RANK[a.priority] - PRIORITY_RANK[b.priority] || a.runId - b.runId

/**
 * The slots of a process: takes runs from its source, executes and records them. While the database is unavailable,
 * runs continue and their records are kept in memory, within bounds.
 */
export class Executor implements AsyncDisposable {
  readonly #options: ExecutorOptions
  readonly #limits: ExecutorLimits
  readonly #times: ExecutorTimes
  readonly #sessions = new Set<Session>()
  readonly #executing = new Set<Promise<void>>()
  /** Claimed ahead of a free slot. */
  readonly #waiting: Session[] = []
  /** The most recent ends of runs, oldest first. */
  #ended: Ended[] = []
  #gathering: Gathering | undefined
  readonly #beginnings = new TurnLimit(MOST_BEGINNINGS)
  readonly #folders: WorkFolders
  readonly #lease: WorkerLease
  readonly #writer: RunWriter
  readonly #backoff: Backoff
  readonly #performer: Performer
  readonly #mask: Mask
  readonly #stopTaking = new AbortController()
  readonly #giveUp = new AbortController()
  readonly #joined = Promise.withResolvers<void>()
  readonly #stopRequest = Promise.withResolvers<'stop requested'>()
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
    this.#limits = { ...EXECUTOR_LIMITS, ...options.limits }
    this.#mask = new Mask(options.given?.secrets ?? [])
    this.#times = { ...EXECUTOR_TIMES, ...options.times }
    const { store, log, intro, source, folder, users } = options
    this.#folders = new WorkFolders(folder, users?.sample)
    const backoff = { firstMs: this.#times.retryFirstMs, mostMs: this.#times.retryMostMs }
    this.#backoff = backoff
    this.#writer = new RunWriter({ store, log, backoff, giveUp: this.#giveUp.signal })
    this.#performer = createPerformer(options, this.#folders, this.#limits, backoff)
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
      onWanted: (wanted) => this.#follow(wanted),
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

  /** Resolves when an operator wants the program to end. Claims have stopped by then; the caller drains. */
  get stopRequested(): Promise<'stop requested'> {
    return this.#stopRequest.promise
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
    this.#gathering?.end()
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
    const { workerId } = this.#lease
    await this.#lease[Symbol.asyncDispose]()
    await this.#performer[Symbol.asyncDispose]()
    await this.#folders[Symbol.asyncDispose]()
    if (workerId === undefined) return
    await store.leave(workerId).catch((error: unknown) => {
      log.warn('could not release the lease of this worker; it will expire', { reason: errorText(error) })
    })
  }

  async #allEnded(): Promise<void> {
    await this.#taking
    while (this.#executing.size > 0) await Promise.all(this.#executing)
  }

  #follow(wanted: Wanted): void {
    if (wanted !== 'running') this.#pause.abort()
    else if (this.#pause.signal.aborted) this.#pause = new AbortController()
    if (wanted === 'stopped') this.#stopRequest.resolve('stop requested')
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
      if (workerId === undefined || isPaused || this.#room() <= this.#ahead() / 2) {
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

  #ahead(): number {
    const since = performance.now() - this.#times.aheadMs
    this.#ended = this.#ended.filter(({ at }) => at > since)
    // Long runs that end together do not free their slots again within this time.
    const expected = this.#ended.reduce((sum, { weight }) => sum + weight, 0)
    const most = Math.max(this.#options.intro.slots * AHEAD_PER_SLOT, LEAST_AHEAD)
    return Math.min(Math.floor(expected), most)
  }

  /** How many runs may be claimed now. */
  #room(): number {
    const { slots } = this.#options.intro
    const waiting = this.#waiting.length
    const working = this.#working()
    const endings = this.#sessions.size - working - waiting
    const mostEndings = Math.max(slots * ENDINGS_PER_SLOT, LEAST_ENDINGS)
    return endings < mostEndings ? slots + this.#ahead() - working - waiting : 0
  }

  #accept(run: ClaimedRun): void {
    const session = this.#open(run)
    if (run.cancelRequested) session.stop('cancel')
    // The claim was pending when the drain began.
    else if (this.#stopTaking.signal.aborted) session.stop('drain')
    this.#sessions.add(session)
    if (session.signal.aborted || this.#working() <= this.#options.intro.slots) this.#begin(session)
    else this.#waiting.push(session)
  }

  #begin(session: Session): void {
    const executed = this.#executeInTurn(session).finally(() => {
      this.#sessions.delete(session)
      this.#executing.delete(executed)
      this.#changed()
    })
    this.#executing.add(executed)
  }

  async #executeInTurn(session: Session): Promise<void> {
    await this.#beginnings.enter()
    await this.#execute(session)
  }

  /** The work of a run has ended: its slot is free. */
  #freeSlot(session: Session, began: number): void {
    session.ending = true
    const at = performance.now()
    if (session.stopped !== 'drain')
      this.#ended.push({ at, weight: Math.min(1, this.#times.aheadMs / (at - began)) })
    while (this.#working() < this.#options.intro.slots) {
      const next = this.#waiting.shift()
      if (next === undefined) break
      this.#begin(next)
    }
    this.#changed()
  }

  /** Waits for the ends of other runs while some are executing. */
  async #gather(): Promise<void> {
    if (this.#working() === 0 || this.#stopTaking.signal.aborted) this.#gathering?.end()
    else this.#gathering ??= this.#startGathering()
    await this.#gathering?.ended
  }

  /** Without signals: they and their errors cost as much as a short run. */
  #startGathering(): Gathering {
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => this.#gathering?.end(), GATHER_MS)
    const end = (): void => {
      clearTimeout(timer)
      this.#gathering = undefined
      resolve()
    }
    return { ended, end }
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

  #open(run: ClaimedRun): Session {
    const folders = this.#folders.of(run)
    const { artifacts, collect, log } = this.#options
    return new Session(run, {
      folders,
      openRecorder: (session) =>
        new RunRecorder({
          run,
          artifacts,
          collect,
          roots: [folders.attempt, folders.workspace],
          folder: folders.attempt,
          owner: () => session.place?.owner,
          limits: this.#limits,
          mask: this.#mask,
          times: this.#times,
          signal: session.signal,
          onLiveFailure: (reason) =>
            log.warn('the live logs of a run cannot be stored', { run_id: run.runId, reason }),
        }),
    })
  }

  async #execute(session: Session): Promise<void> {
    const began = performance.now()
    const { log, onRunEnded } = this.#options
    const { recorder } = session
    try {
      const ending = await this.#performAndRecord(session)
      if (ending === 'lost') this.#lease.recheckSoon()
      const seconds = (performance.now() - began) / 1000
      const isOver = ending !== 'lost' && ending !== 'handed-back'
      onRunEnded?.(ending, seconds, isOver ? outcomeOf(ending, recorder.tallied) : undefined)
      log.debug('a run ended here', { run_id: session.key.runId, ending, seconds })
      await recorder[Symbol.asyncDispose]()
      await session.place?.[Symbol.asyncDispose]()
      await this.#removeLiveLogs(session)
      await this.#discardUploads(session)
    } catch (error) {
      log.error('the resources of a run could not be released', { run_id: session.key.runId, error })
    }
  }

  async #removeLiveLogs({ key, recorder }: Session): Promise<void> {
    await recorder.removeLiveLogs().catch((error: unknown) => {
      const reason = errorText(error)
      this.#options.log.warn('live logs of a run could not be removed', { run_id: key.runId, reason })
    })
  }

  /** A run that was lost, handed back or cannot be recorded has uploads without rows. */
  async #discardUploads({ key, stopped, recorder }: Session): Promise<void> {
    if (stopped !== 'lost' && stopped !== 'drain' && stopped !== 'unrecordable') return
    const { store, log } = this.#options
    await recorder.discardUploads(store).catch((error: unknown) => {
      log.warn('uploads of a run without rows could not be removed', {
        run_id: key.runId,
        reason: errorText(error),
      })
    })
  }

  async #performAndRecord(session: Session): Promise<RunEnding> {
    const began = performance.now()
    const { timeoutMs } = session.run
    const limitMs = timeoutMs ?? this.#options.defaultTimeoutMs
    using _timer = limitMs === undefined ? undefined : startTimer(limitMs, () => session.stop('timeout'))
    const outcome = await this.#performer.perform(session)
    const problem = session.stopped === 'lost' ? '' : await session.recorder.settle()
    this.#freeSlot(session, began)
    await this.#gather()
    if (session.stopped !== 'drain' && session.stopped !== 'lost')
      await this.#writer.finish(session, verdictOf(session, outcome, problem, limitMs))
    if (session.stopped === 'drain') await this.#writer.handBack([session.key])
    if (session.stopped === 'lost') return 'lost'
    if (session.stopped === 'drain') return 'handed-back'
    const verdict = verdictOf(session, outcome, problem, limitMs)
    if (verdict.status === 'failed') this.#logFailure(session, verdict, performance.now() - began)
    return verdict.status
  }

  #logFailure({ run }: Session, { errorMessage }: Verdict, durationMs: number): void {
    const shown = (text: string): string => clipped(this.#mask.text(text), LOGGED_CHARS)
    this.#options.log.warn('a run failed', {
      run_id: run.runId,
      run_uuid: run.runUuid,
      attempt: run.attempt,
      workflow: run.workflowName,
      target: shown(run.target),
      error: shown(errorMessage),
      duration_ms: Math.round(durationMs),
    })
  }
}
