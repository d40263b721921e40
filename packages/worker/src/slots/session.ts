import type { ClaimedRun, PartOfBatch, RunKey } from '@scanfarm/contracts'
import type { RunFolders } from '../workspaces/work-folders.ts'
import type { RunRecorder } from '../record/run-recorder.ts'
import type { Journal } from '../resume/journal.ts'
import type { BatchNotes } from '../spread/batch-notes.ts'
import type { WorkingDirectory } from '../run/working-directory.ts'

/**
 * Why a run ends before its workflow does. `lost`: it belongs to another worker now, so nothing of it may be written.
 * `drain`: this process stops, the run is handed back. `closed`: its scope opens later, the run is handed back until
 * then. `limited`: a limit has no share left, the run is handed back until there is one. `unrecordable`: the store refuses to record the run.
 */
export type StopReason = 'cancel' | 'timeout' | 'lost' | 'drain' | 'closed' | 'limited' | 'unrecordable'

/** How a run ended. */
export interface Verdict {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly errorMessage: string
}

export interface SessionParts {
  readonly folders: RunFolders
  openRecorder(session: Session): RunRecorder
}

/** One attempt that this process executes. */
export class Session {
  readonly run: ClaimedRun
  readonly key: RunKey
  readonly folders: RunFolders
  readonly recorder: RunRecorder
  readonly acceptedAt = performance.now()
  /** Processes that were killed because the run was stopped. */
  readonly killedPids: number[] = []
  /** Set when the run begins. */
  directory: WorkingDirectory | undefined
  /** What it stores for a later attempt. Set when the run begins. */
  journal: Journal | undefined
  /** What it tells the run whose items it executes. */
  notes: BatchNotes | undefined
  /** What it has done of its batch, if that is not all: the rest goes to other runs. */
  part: PartOfBatch | undefined
  /** It waits for other runs, without a slot. */
  resting = false
  /** When its scope opens. */
  opensAt: Date | undefined
  /** The work is over and only the end has to be written. */
  isFinishing = false
  readonly #stop = new AbortController()
  readonly #enough = new AbortController()
  #reason: StopReason | undefined
  #writing: Promise<void> | undefined

  constructor(run: ClaimedRun, parts: SessionParts) {
    this.run = run
    this.key = { runId: run.runId, attempt: run.attempt }
    this.folders = parts.folders
    this.recorder = parts.openRecorder(this)
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  /** Aborted when this process stops soon: a batch begins no further item. */
  get enough(): AbortSignal {
    return this.#enough.signal
  }

  endSoon(): void {
    this.#enough.abort()
  }

  get stopped(): StopReason | undefined {
    return this.#reason
  }

  /** The first reason wins, except `lost`, which always overrides it. */
  stop(reason: StopReason): void {
    if (reason === 'lost') this.#reason = reason
    else this.#reason ??= reason
    this.endSoon()
    this.#stop.abort(reason)
  }

  get isWriting(): boolean {
    return this.#writing !== undefined
  }

  /** Writes of one run must not overlap: call it only when `isWriting` is false. */
  write(work: () => Promise<void>): void {
    this.#writing = work().finally(() => (this.#writing = undefined))
  }

  async written(): Promise<void> {
    await this.#writing
  }
}

const MINUTE_MS = 60_000

const durationText = (ms: number): string => {
  if (ms % MINUTE_MS !== 0) return `${ms / 1000} seconds`
  return ms === MINUTE_MS ? '1 minute' : `${ms / MINUTE_MS} minutes`
}

/** The reason of a stop overrides the outcome of the workflow; a failed upload fails a run that completed. */
export function verdictOf(
  { stopped }: Pick<Session, 'stopped'>,
  outcome: Verdict,
  uploadProblem: string,
  limitMs: number | undefined,
): Verdict {
  if (stopped === 'cancel') return { status: 'cancelled', errorMessage: 'cancelled on request' }
  if (stopped === 'timeout')
    return { status: 'failed', errorMessage: `run timed out after ${durationText(limitMs ?? 0)}` }
  if (uploadProblem === '') return outcome
  const errorMessage = [outcome.errorMessage, uploadProblem].filter((part) => part !== '').join('; ')
  return { status: outcome.status === 'completed' ? 'failed' : outcome.status, errorMessage }
}

/** Longest delay of a timer in Node; a longer one fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

/**
 * Calls back once after any time, never early: a timer of Node counts whole milliseconds and may fire one too soon.
 * Disposing it cancels the call.
 */
export function startTimer(ms: number, onElapsed: () => void): Disposable {
  const due = performance.now() + ms
  let timer: NodeJS.Timeout
  const check = (): void => (performance.now() < due ? wait() : onElapsed())
  const wait = (): void => {
    timer = setTimeout(check, Math.min(Math.max(due - performance.now(), 0), LONGEST_TIMER_MS))
  }
  wait()
  return { [Symbol.dispose]: () => clearTimeout(timer) }
}
