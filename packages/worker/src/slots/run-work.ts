import { Mask } from '@scanfarm/engine'
import { outcomeOf, withoutPassword, type ClaimedRun } from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import { clipped } from '../record/row-values.ts'
import { RunRecorder } from '../record/run-recorder.ts'
import type { RunWriter } from '../record/run-writer.ts'
import type { Performer } from '../run/perform.ts'
import type { WorkFolders } from '../workspaces/work-folders.ts'
import type { ExecutorLimits, ExecutorTimes } from './limits.ts'
import type { ExecutorOptions, RunEnding } from './options.ts'
import { Session, startTimer, verdictOf, type Verdict } from './session.ts'

/** UTF-16 units of a target or an error message in a line of the log. */
const LOGGED_CHARS = 1_000

interface RunWorkPorts {
  readonly folders: WorkFolders
  readonly performer: Performer
  readonly writer: RunWriter
  readonly limits: ExecutorLimits
  readonly times: ExecutorTimes
  /** The work of a run that began at this time is over. Resolves when its end may be written. */
  onWorkOver(session: Session, began: number): Promise<void>
  /** The run belongs to another worker. */
  onLost(): void
}

/** Performs and records single runs; `Executor` decides when they begin. */
export class RunWork {
  readonly #options: ExecutorOptions
  readonly #ports: RunWorkPorts
  readonly #mask: Mask

  constructor(options: ExecutorOptions, ports: RunWorkPorts) {
    this.#options = options
    this.#ports = ports
    this.#mask = new Mask(options.operatorInput?.secrets ?? [])
  }

  /** A session for a run that was claimed. */
  open(run: ClaimedRun): Session {
    const folders = this.#ports.folders.of(run)
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
          owner: () => session.directory?.owner,
          journal: () => session.notes ?? session.journal,
          limits: this.#ports.limits,
          mask: this.#mask,
          times: this.#ports.times,
          signal: session.signal,
          onLiveFailure: (reason) =>
            log.warn('the live logs of a run cannot be stored', { run_id: run.runId, reason }),
        }),
    })
  }

  /** Performs and records a run, and releases what it used. Never rejects. */
  async execute(session: Session): Promise<void> {
    const began = performance.now()
    const { log, onRunEnded } = this.#options
    const { recorder } = session
    try {
      const ending = await this.#performAndRecord(session)
      if (ending === 'lost') this.#ports.onLost()
      const seconds = (performance.now() - began) / 1000
      const isOver = ending !== 'lost' && ending !== 'handed-back'
      onRunEnded?.(ending, seconds, isOver ? outcomeOf(ending, recorder.tallied) : undefined)
      log.debug('a run ended here', { run_id: session.key.runId, ending, seconds })
      await recorder[Symbol.asyncDispose]()
      await session.directory?.[Symbol.asyncDispose]()
      await this.#removed(session, 'live logs of a run', recorder.removeLiveLogs())
      await this.#discardUploads(session)
    } catch (error) {
      log.error('the resources of a run could not be released', { run_id: session.key.runId, error })
    }
  }

  /** A run that was lost, handed back or cannot be recorded has uploads without rows. */
  async #discardUploads(session: Session): Promise<void> {
    const { stopped, recorder } = session
    if (stopped === undefined || stopped === 'cancel' || stopped === 'timeout') return
    await this.#removed(
      session,
      'uploads of a run without rows',
      recorder.discardUploads(this.#options.store),
    )
  }

  async #removed({ key }: Session, what: string, removal: Promise<void> | undefined): Promise<void> {
    await removal?.catch((error: unknown) => {
      const reason = errorText(error)
      this.#options.log.warn(`${what} could not be removed`, { run_id: key.runId, reason })
    })
  }

  #isClean({ recorder }: Session): boolean {
    return outcomeOf('completed', recorder.tallied) === 'clean'
  }

  async #performAndRecord(session: Session): Promise<RunEnding> {
    const began = performance.now()
    const { timeoutMs } = session.run
    const limitMs = timeoutMs ?? this.#options.defaultTimeoutMs
    using _timer = limitMs === undefined ? undefined : startTimer(limitMs, () => session.stop('timeout'))
    const outcome = await this.#ports.performer.perform(session)
    if (outcome.status !== 'completed' || !this.#isClean(session))
      await session.journal?.settled(session.stopped === 'lost')
    const problem = session.stopped === 'lost' ? '' : await session.recorder.settle()
    if (problem !== '') await session.journal?.settled()
    await session.directory?.keep()
    await this.#ports.onWorkOver(session, began)
    const isReturned =
      session.part === undefined && ['drain', 'closed', 'limited'].includes(session.stopped ?? '')
    if (!isReturned && session.stopped !== 'lost')
      await this.#ports.writer.finish(session, verdictOf(session, outcome, problem, limitMs))
    if (isReturned) await this.#ports.writer.writeAll(session)
    if (isReturned)
      await this.#ports.writer.handBack(
        [session.key],
        session.stopped === 'limited' ? 'share' : session.opensAt,
      )
    if (session.stopped === 'lost') return 'lost'
    if (isReturned) return 'handed-back'
    const verdict = verdictOf(session, outcome, problem, limitMs)
    if (verdict.status === 'completed' && this.#isClean(session))
      await this.#removed(session, 'what a run stored for a later attempt', session.journal?.discard())
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
      target: shown(withoutPassword(run.target)),
      error: shown(errorMessage),
      duration_ms: Math.round(durationMs),
    })
  }
}
