import type { RunKey, RunStore } from '@scanfarm/contracts'
import type { Backoff } from './retry.ts'
import type { ExecutorLog } from './log.ts'
import type { Batch } from './record/changes.ts'
import { backOff, reasonOf } from './retry.ts'
import type { Session, Verdict } from './session.ts'

export interface WriterOptions {
  readonly store: Pick<RunStore, 'record' | 'finish' | 'handBack'>
  readonly retry: Backoff
  readonly log: ExecutorLog
  /** Aborts when this process cannot wait any longer for a database that is away. */
  readonly giveUp: AbortSignal
}

/** A store that takes other writes, but this one not so many times, never will. */
const MAX_REFUSALS = 5

interface Refusals {
  count: number
  /** `#successes` when the last one happened: refusals while nothing at all comes through say nothing. */
  successes: number
  reason: string
}

/** Takes what journals hold to Postgres. The store gathers calls that overlap into common statements. */
export class Writer {
  readonly #options: WriterOptions
  readonly #refusals = new WeakMap<Session, Refusals>()
  #successes = 0

  constructor(options: WriterOptions) {
    this.#options = options
  }

  /** Some call of the store came through, so it is there. */
  noteSuccess(): void {
    this.#successes += 1
  }

  /** Starts a write for each session that is due and has none under way. */
  flush(sessions: Iterable<Session>): void {
    const due = [...sessions].filter((one) => !one.ending && !one.isWriting && one.journal.due())
    // One order for all, so that statements of two workers never wait for each other.
    for (const session of due.sort((a, b) => a.key.runId - b.key.runId))
      session.write(async () => {
        const batch = session.journal.take()
        if (batch !== undefined) await this.#record(session, batch)
        if (this.#unrecordable(session)) session.stop('unrecordable')
      })
  }

  /** Ends a run, with all that is still unwritten of it. Resolves when that is done, refused or given up. */
  async finish(session: Session, verdict: Verdict): Promise<void> {
    await session.written()
    for (let attempt = 1; this.#mayWrite(session); attempt += 1) {
      if (this.#unrecordable(session)) return this.#finishBare(session)
      const batch = session.journal.take()
      const last = batch?.last ?? true
      const through =
        batch !== undefined && !last
          ? await this.#record(session, batch)
          : await this.#attempt(session, batch, () => this.#end(session, verdict, batch))
      if (through && last) return
      if (!through) await backOff(attempt, this.#options.retry, this.#options.giveUp)
    }
  }

  /** Back to the queue. Resolves when that is done or given up: then the reaper does it. */
  async handBack(keys: readonly RunKey[]): Promise<void> {
    const { store, retry, log, giveUp } = this.#options
    for (let attempt = 1; !giveUp.aborted; attempt += 1) {
      try {
        await store.handBack(keys)
        return
      } catch (error) {
        log.warn('runs could not be handed back yet', { reason: reasonOf(error), runs: keys.length })
        await backOff(attempt, retry, giveUp)
      }
    }
  }

  #mayWrite(session: Session): boolean {
    return session.stopped !== 'lost' && !this.#options.giveUp.aborted
  }

  #record(session: Session, batch: Batch): Promise<boolean> {
    return this.#attempt(session, batch, () => this.#options.store.record([batch.update]))
  }

  #end(session: Session, verdict: Verdict, batch: Batch | undefined): Promise<RunKey[]> {
    const { key, killedPids } = session
    return this.#options.store.finish([{ ...key, ...verdict, killedPids, last: batch?.update ?? key }])
  }

  async #attempt(
    session: Session,
    batch: Batch | undefined,
    call: () => Promise<readonly RunKey[]>,
  ): Promise<boolean> {
    try {
      const lost = await call()
      this.#successes += 1
      this.#refusals.delete(session)
      if (batch !== undefined) session.journal.saved(batch)
      if (lost.length > 0) session.stop('lost')
      return true
    } catch (error) {
      if (batch !== undefined) session.journal.again()
      this.#noteRefusal(session, reasonOf(error))
      return false
    }
  }

  #noteRefusal(session: Session, reason: string): void {
    const before = this.#refusals.get(session) ?? { count: 0, successes: -1, reason }
    const count = before.count + (before.successes === this.#successes ? 0 : 1)
    this.#refusals.set(session, { count, successes: this.#successes, reason })
    this.#options.log.warn('a write of a run was not taken', { run_id: session.key.runId, reason })
  }

  #unrecordable(session: Session): boolean {
    return (this.#refusals.get(session)?.count ?? 0) >= MAX_REFUSALS
  }

  /** Something in the journal cannot be stored: the run fails with what can be said about it. */
  async #finishBare(session: Session): Promise<void> {
    const reason = this.#refusals.get(session)?.reason ?? ''
    const errorMessage = `what the run did could not be recorded: ${reason}`
    const { key, killedPids } = session
    this.#options.log.error('a run cannot be recorded', { run_id: key.runId, reason })
    try {
      await this.#options.store.finish([{ ...key, status: 'failed', errorMessage, killedPids, last: key }])
    } catch {
      // The next heartbeat finds a run that this process does not know, and hands it back.
    }
  }
}
