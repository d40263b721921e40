import type { ClaimedRun, RunKey } from '@scanfarm/contracts'
import type { RunFolders } from './folders.ts'
import type { Journal } from './record/journal.ts'
import type { UserLease } from './users/command-users.ts'

/**
 * Why a run ends before its workflow does. `lost`: it belongs to somebody else now, so nothing of it may be written.
 * `drain`: this process goes, the run is handed back. `unrecordable`: the store does not take what happened in it.
 */
export type StopReason = 'cancel' | 'timeout' | 'lost' | 'drain' | 'unrecordable'

/** How a run ended. */
export interface Verdict {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly errorMessage: string
}

export interface SessionParts {
  readonly folders: RunFolders
  makeJournal(signal: AbortSignal): Journal
}

/** One attempt under way in this process. */
export class Session {
  readonly run: ClaimedRun
  readonly key: RunKey
  readonly folders: RunFolders
  readonly journal: Journal
  /** Pids that were killed because the run was stopped. */
  readonly killedPids: number[] = []
  /** Who commands work as, once that is decided. */
  lease: UserLease | undefined
  /** The work is over and only the end has to be written. */
  ending = false
  readonly #stop = new AbortController()
  #reason: StopReason | undefined
  #writing: Promise<void> | undefined

  constructor(run: ClaimedRun, parts: SessionParts) {
    this.run = run
    this.key = { runId: run.runId, attempt: run.attempt }
    this.folders = parts.folders
    this.journal = parts.makeJournal(this.#stop.signal)
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  get stopped(): StopReason | undefined {
    return this.#reason
  }

  /** The first reason stands, but for `lost`, after which nothing is written. */
  stop(reason: StopReason): void {
    if (reason === 'lost') this.#reason = reason
    else this.#reason ??= reason
    this.#stop.abort(reason)
  }

  get isWriting(): boolean {
    return this.#writing !== undefined
  }

  /** Writes of one run never pass each other: call it only when none is under way. */
  write(work: () => Promise<void>): void {
    this.#writing = work().finally(() => (this.#writing = undefined))
  }

  async written(): Promise<void> {
    await this.#writing
  }
}
