import type { Backoff, RunKey, RunStore } from '@scanfarm/contracts'
import { backOff, errorText, retry, type Logger } from '@scanfarm/platform'
import type { Session, Verdict } from '../slots/session.ts'
import type { Batch } from './write-buffer.ts'

export interface RunWriterOptions {
  readonly store: Pick<RunStore, 'record' | 'finish' | 'handBack'>
  readonly backoff: Backoff
  readonly log: Logger
  /** Aborts when this process cannot wait any longer for a database that is unavailable. */
  readonly giveUp: AbortSignal
}

/** A run is unrecordable when its write fails this often while other writes succeed. */
const MAX_REFUSALS = 5

interface Refusals {
  count: number
  /** `#successes` at the last refusal: without a success since then, another refusal does not count. */
  successes: number
  reason: string
}

/** Writes what runs recorded to Postgres. The store groups calls that overlap into common statements. */
export class RunWriter {
  readonly #options: RunWriterOptions
  readonly #refusals = new WeakMap<Session, Refusals>()
  #successes = 0

  constructor(options: RunWriterOptions) {
    this.#options = options
  }

  /** Another call of the store succeeded, so the database is available. */
  noteSuccess(): void {
    this.#successes += 1
  }

  /** Starts a write for each session that is due and has no write in flight. */
  flush(sessions: Iterable<Session>): void {
    const due = [...sessions].filter(
      (one) => !one.isFinishing && !one.isWriting && one.recorder.buffer.shouldFlush(),
    )
    // All workers use the same order, so that their statements do not deadlock.
    for (const session of due.sort((a, b) => a.key.runId - b.key.runId))
      session.write(async () => {
        const batch = session.recorder.buffer.take()
        if (batch !== undefined) await this.#record(session, batch)
        if (this.#isUnrecordable(session)) session.stop('unrecordable')
      })
  }

  /** Ends a run and writes all that is left of it. Resolves when that is done, refused or given up. */
  async finish(session: Session, verdict: Verdict): Promise<void> {
    await session.written()
    for (let attempt = 1; this.#mayWrite(session); attempt += 1) {
      if (this.#isUnrecordable(session)) return this.#finishUnrecordable(session)
      const batch = session.recorder.buffer.take()
      const last = batch?.last ?? true
      const succeeded =
        batch !== undefined && !last
          ? await this.#record(session, batch)
          : await this.#write(session, batch, () => this.#end(session, verdict, batch))
      if (succeeded && last) return
      if (!succeeded) await backOff(attempt, this.#options.backoff, this.#options.giveUp)
    }
  }

  /** Writes what is left of a run that is handed back: its next attempt may take it over. Gives up at the first failure. */
  async writeAll(session: Session): Promise<void> {
    await session.written()
    while (this.#mayWrite(session)) {
      const batch = session.recorder.buffer.take()
      if (batch === undefined || !(await this.#record(session, batch)) || batch.last) return
    }
  }

  /** As `RunStore.handBack`. Resolves when that is done or given up; then the lease of this worker expires. */
  async handBack(keys: readonly RunKey[], until?: Date | 'share'): Promise<void> {
    const { store, backoff, log, giveUp } = this.#options
    if (giveUp.aborted) return
    const shouldRetry = (error: unknown): boolean => {
      log.warn('runs could not be handed back yet', { reason: errorText(error), runs: keys.length })
      return true
    }
    const give = () => store.handBack(keys, until)
    await retry(give, { backoff, signal: giveUp, shouldRetry }).catch(() => undefined)
  }

  #mayWrite(session: Session): boolean {
    return session.stopped !== 'lost' && !this.#options.giveUp.aborted
  }

  #record(session: Session, batch: Batch): Promise<boolean> {
    return this.#write(session, batch, () => this.#options.store.record([batch.update]))
  }

  #end(session: Session, verdict: Verdict, batch: Batch | undefined): Promise<RunKey[]> {
    const { key, killedPids, part } = session
    return this.#options.store.finish([{ ...key, ...verdict, killedPids, part, last: batch?.update ?? key }])
  }

  async #write(
    session: Session,
    batch: Batch | undefined,
    call: () => Promise<readonly RunKey[]>,
  ): Promise<boolean> {
    try {
      const lost = await call()
      this.#successes += 1
      this.#refusals.delete(session)
      batch?.saved()
      if (lost.length > 0) session.stop('lost')
      return true
    } catch (error) {
      batch?.failed()
      this.#noteRefusal(session, errorText(error))
      return false
    }
  }

  #noteRefusal(session: Session, reason: string): void {
    const before = this.#refusals.get(session) ?? { count: 0, successes: -1, reason }
    const count = before.count + (before.successes === this.#successes ? 0 : 1)
    this.#refusals.set(session, { count, successes: this.#successes, reason })
    this.#options.log.warn('a write of a run failed', { run_id: session.key.runId, reason })
  }

  #isUnrecordable(session: Session): boolean {
    return (this.#refusals.get(session)?.count ?? 0) >= MAX_REFUSALS
  }

  /** The database refuses something in the buffer: the run fails without it. */
  async #finishUnrecordable(session: Session): Promise<void> {
    const reason = this.#refusals.get(session)?.reason ?? ''
    const errorMessage = `what the run did could not be recorded: ${reason}`
    const { key, killedPids } = session
    this.#options.log.error('a run cannot be recorded', { run_id: key.runId, reason })
    try {
      await this.#options.store.finish([{ ...key, status: 'failed', errorMessage, killedPids, last: key }])
    } catch (error) {
      // The next heartbeat lists a run that this process does not execute, and it is handed back.
      this.#options.log.warn(
        'the end of a run that cannot be recorded could not be written; it will be handed back',
        {
          run_id: key.runId,
          reason: errorText(error),
        },
      )
    }
  }
}
