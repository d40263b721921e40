import { Mask } from '@scanfarm/workflow'
import { startAlarm } from './alarm.ts'
import { WorkFolders } from './folders.ts'
import type { Homes } from './homes.ts'
import { EXECUTOR_LIMITS, EXECUTOR_TIMES, type ExecutorLimits, type ExecutorTimes } from './limits.ts'
import type { ExecutorOptions, RunEnding } from './options.ts'
import { createPerformer, type Performer } from './perform.ts'
import { Presence } from './presence.ts'
import { discardBytes } from './record/discard-bytes.ts'
import { identityOf } from './record/identity.ts'
import { Journal } from './record/journal.ts'
import { clipped } from './record/storable.ts'
import { backOff, reasonOf, settlesWithin } from './retry.ts'
import { Session, type Verdict } from './session.ts'
import { verdictOf } from './verdict.ts'
import { Writer } from './writer.ts'
import { outcomeOf, type ClaimedRun } from '@scanfarm/contracts'

export interface ExecutorStatus {
  /** Postgres knows this process now. */
  readonly joined: boolean
  readonly workerId: string | undefined
  readonly slots: number
  readonly busy: number
  /** Milliseconds since the database last answered a heartbeat; at most a third of the lease when all is well. */
  readonly silenceMs: number
}

/**
 * A run whose work is over gives its slot free at once, while its end is being written; but when the database is slow
 * or away no more than this many runs for each slot may wait for that.
 */
const ENDINGS_PER_SLOT = 4

/** Units of UTF-16 of a target or an error message in a line of the log. */
const LOGGED_CHARS = 1_000

/** After a drain's deadline: time for killing, handing back and leaving. */
const WIND_UP_MS = 5_000

/**
 * Slots, heartbeat, cancel and drain: takes runs from its source, executes and records them. Outlasts a database that
 * is away: runs go on and what they do is kept, within bounds, until it is back.
 */
export class Executor implements AsyncDisposable {
  readonly #options: ExecutorOptions
  readonly #limits: ExecutorLimits
  readonly #times: ExecutorTimes
  readonly #sessions = new Set<Session>()
  readonly #serving = new Set<Promise<void>>()
  readonly #folders: WorkFolders
  readonly #presence: Presence
  readonly #writer: Writer
  readonly #performer: Performer
  readonly #mask: Mask
  readonly #stopTaking = new AbortController()
  readonly #giveUp = new AbortController()
  #taking: Promise<void> | undefined
  #flushing: NodeJS.Timeout | undefined
  #change = Promise.withResolvers<void>()
  /** A cancel was signalled while a claim was under way: it may concern a run of that claim. */
  #signalledInClaim = false
  #drained: Promise<void> | undefined

  constructor(options: ExecutorOptions) {
    this.#options = options
    this.#limits = { ...EXECUTOR_LIMITS, ...options.limits }
    this.#mask = new Mask(options.given?.secrets ?? [])
    this.#times = { ...EXECUTOR_TIMES, ...options.times }
    const { store, log, intro, source, folder, users } = options
    this.#folders = new WorkFolders(folder, users?.sample)
    const retry = { firstMs: this.#times.retryFirstMs, mostMs: this.#times.retryMostMs }
    this.#writer = new Writer({ store, log, retry, giveUp: this.#giveUp.signal })
    this.#performer = createPerformer(options, this.#folders, this.#limits, retry)
    this.#presence = new Presence({
      store,
      intro,
      log,
      sessions: this.#sessions,
      cancelPollMs: this.#times.cancelPollMs,
      claiming: () => source.claiming,
      draining: () => this.#stopTaking.signal.aborted,
      handBack: (keys) => this.#writer.handBack(keys),
      onAnswer: () => this.#writer.noteSuccess(),
      onJoined: () => this.#changed(),
    })
  }

  /**
   * Begins to join and to take runs; nothing of it needs the database to be there. Throws when runs could not work in
   * the work folder.
   */
  start(): void {
    this.#options.log.debug('runs work here', { folder: this.#folders.base })
    this.#presence.start()
    this.#taking ??= this.#take()
    this.#flushing ??= setInterval(() => this.#writer.flush(this.#sessions), this.#times.flushMs / 2)
  }

  get status(): ExecutorStatus {
    const { workerId, silenceMs } = this.#presence
    const { slots } = this.#options.intro
    return { joined: workerId !== undefined, workerId, slots, busy: this.#working(), silenceMs }
  }

  /** Where the work folders of runs really are. Throws when runs could not work anywhere. */
  get folder(): string {
    return this.#folders.base
  }

  /** Homes of commands that outlast runs, if there are such. */
  get homes(): Homes | undefined {
    return this.#options.homes
  }

  /** What commands here can do from now on. */
  offer(capabilities: readonly string[]): void {
    this.#presence.offer(capabilities)
  }

  /**
   * Takes a signal that cancels of these runs were requested. The signal is only a hint, because programs other than
   * masters can send one: the executor soon asks the database, in one statement for all runs, and follows its answer.
   */
  checkCancels(runIds: readonly number[]): void {
    this.#signalledInClaim ||= this.#options.source.claiming
    const ids = new Set(runIds)
    for (const { key } of this.#sessions) if (ids.has(key.runId)) return this.#presence.checkSoon()
  }

  /**
   * Takes no more runs and lets those under way go on, at most this long; the rest is killed and handed back. Then
   * leaves the farm. A second call waits for the first.
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
    this.#changed()
    log.info('draining', { runs: this.#sessions.size, deadline_ms: deadlineMs })
    const ended = this.#allEnded()
    if (!(await settlesWithin(ended, deadlineMs))) {
      for (const session of this.#sessions) session.stop('drain')
      if (!(await settlesWithin(ended, WIND_UP_MS))) log.error('runs could not be wound up in time')
    }
    this.#giveUp.abort()
    clearInterval(this.#flushing)
    const { workerId } = this.#presence
    await this.#presence[Symbol.asyncDispose]()
    await this.#performer[Symbol.asyncDispose]()
    await this.#folders[Symbol.asyncDispose]()
    if (workerId === undefined) return
    await store.leave(workerId).catch((error: unknown) => {
      log.warn('could not leave the farm; the lease will run out', { reason: reasonOf(error) })
    })
  }

  async #allEnded(): Promise<void> {
    await this.#taking
    while (this.#serving.size > 0) await Promise.all(this.#serving)
  }

  #changed(): void {
    this.#change.resolve()
    this.#change = Promise.withResolvers()
  }

  async #take(): Promise<void> {
    const { source, log } = this.#options
    const { signal } = this.#stopTaking
    for (let failures = 0; !signal.aborted;) {
      const free = this.#free()
      const { workerId } = this.#presence
      if (workerId === undefined || free <= 0) {
        await this.#change.promise
        continue
      }
      try {
        for (const run of await source.next(workerId, free, signal)) this.#begin(run)
        failures = 0
        if (this.#signalledInClaim) this.#presence.checkSoon()
        this.#signalledInClaim = false
      } catch (error) {
        failures += 1
        log.warn('no runs could be taken', { reason: reasonOf(error), failures })
        const { retryFirstMs, retryMostMs } = this.#times
        await backOff(failures, { firstMs: retryFirstMs, mostMs: retryMostMs }, signal)
      }
    }
  }

  #working(): number {
    let working = 0
    for (const session of this.#sessions) if (!session.ending) working += 1
    return working
  }

  #free(): number {
    const { slots } = this.#options.intro
    const working = this.#working()
    const endings = this.#sessions.size - working
    return endings < slots * ENDINGS_PER_SLOT ? slots - working : 0
  }

  #begin(run: ClaimedRun): void {
    const session = this.#open(run)
    if (run.cancelRequested) session.stop('cancel')
    // The claim was under way when the drain began.
    else if (this.#stopTaking.signal.aborted) session.stop('drain')
    this.#sessions.add(session)
    const served = this.#serve(session).finally(() => {
      this.#sessions.delete(session)
      this.#serving.delete(served)
      this.#changed()
    })
    this.#serving.add(served)
  }

  #open(run: ClaimedRun): Session {
    const folders = this.#folders.of(run)
    const { artifacts, collect, log } = this.#options
    const session: Session = new Session(run, {
      folders,
      makeJournal: (signal) =>
        new Journal({
          run,
          identity: identityOf(run.runUuid, run.attempt),
          artifacts,
          collect,
          roots: [folders.attempt, folders.workspace],
          folder: folders.attempt,
          owner: () => session.lease?.owner,
          limits: this.#limits,
          mask: this.#mask,
          times: this.#times,
          signal,
          log,
        }),
    })
    return session
  }

  async #serve(session: Session): Promise<void> {
    const began = performance.now()
    const { log, onRunEnded } = this.#options
    try {
      const ending = await this.#carryOut(session)
      if (ending === 'lost') this.#presence.checkSoon()
      const seconds = (performance.now() - began) / 1000
      const goesOn = ending === 'lost' || ending === 'handed-back'
      onRunEnded?.(ending, seconds, goesOn ? undefined : outcomeOf(ending, session.journal.counted))
      log.debug('a run ended here', { run_id: session.key.runId, ending, seconds })
      await session.journal[Symbol.asyncDispose]()
      try {
        await this.#folders.clear(session.folders)
      } finally {
        await session.lease?.release()
      }
      await this.#discard(session)
    } catch (error) {
      log.error('a run could not be wound up', { run_id: session.key.runId, error })
    }
  }

  /** What is in the artifact store, and has no row because the run was lost or handed back, or cannot be recorded. */
  async #discard({ run, stopped, journal }: Session): Promise<void> {
    if (stopped !== 'lost' && stopped !== 'drain' && stopped !== 'unrecordable') return
    try {
      await discardBytes(run, journal.storedKeys, this.#options)
    } catch (error) {
      this.#options.log.warn('bytes of a run without rows could not be removed', {
        run_id: run.runId,
        reason: reasonOf(error),
      })
    }
  }

  async #carryOut(session: Session): Promise<RunEnding> {
    const began = performance.now()
    const { timeoutMs } = session.run
    const limitMs = timeoutMs ?? this.#options.defaultTimeoutMs
    using _alarm = limitMs === undefined ? undefined : startAlarm(limitMs, () => session.stop('timeout'))
    const outcome: Verdict = await this.#performer.perform(session)
    const problem = session.stopped === 'lost' ? '' : await session.journal.settle()
    session.ending = true
    this.#changed()
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
