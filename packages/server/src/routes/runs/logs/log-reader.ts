import { isTerminal, LIVE_BLOCK_BYTES, type ArtifactStore } from '@scanfarm/contracts'
import { errorText, pause, type Logger } from '@scanfarm/platform'
import type { LogState, Store } from '@scanfarm/store'
import { Notifier } from '../../../notifier.ts'
import { hasFinal, isOver, readLive } from './log-files.ts'

/** Bytes kept for followers that are almost up to date. */
export const WINDOW_BYTES = 256 * 1024
/** Bytes of one answer to a follower. */
const PART_BYTES = 64 * 1024
/** Time between two reads of new bytes, and between two reads of the row. */
const POLL_MS = 200
const STATE_MS = 500
/** The same after a failure of the database or the artifact store. */
const FAILED_MS = 1_000

export interface LogReaderParts {
  readonly runs: Pick<Store['runs'], 'logAgain' | 'logInLatest'>
  readonly artifacts: ArtifactStore
  readonly log: Logger
}

/** Reads one log while it grows, once for all of its followers. */
export class LogReader {
  /** Notifies of new bytes, of another attempt and of the end. */
  readonly news = new Notifier()
  readonly #parts: LogReaderParts
  #state: LogState
  #stateAt = performance.now()
  #sawRunning = false
  #settled = false
  #followers = 0
  #running = false
  /** The newest bytes, without gaps. */
  #chunks: Buffer[] = []
  #start: number
  #end: number

  constructor(parts: LogReaderParts, state: LogState, offset: number) {
    this.#parts = parts
    this.#state = state
    this.#start = this.#end = offset
    this.#sawRunning = !isOver(state)
  }

  get state(): LogState {
    return this.#state
  }

  /** The log is over, and its complete form is stored unless that failed. */
  get settled(): boolean {
    return this.#settled
  }

  /** The log is read while it has followers. */
  join(): Disposable {
    this.#followers += 1
    if (!this.#running) void this.#run()
    return { [Symbol.dispose]: () => void (this.#followers -= 1) }
  }

  /** The bytes after an offset: `behind` if they are older than the window, empty if there are none yet. */
  next(offset: number): Buffer | 'behind' {
    if (offset < this.#start) return 'behind'
    const parts: Buffer[] = []
    let [at, length] = [this.#start, 0]
    for (const chunk of this.#chunks) {
      if (length >= PART_BYTES) break
      const part = chunk.subarray(Math.max(0, offset - at))
      if (part.length > 0) parts.push(part)
      length += part.length
      at += chunk.length
    }
    return parts.length === 1 ? (parts[0] ?? Buffer.alloc(0)) : Buffer.concat(parts)
  }

  async #run(): Promise<void> {
    this.#running = true
    let failed = false
    while (this.#followers > 0 && !this.#settled) {
      const began = performance.now()
      try {
        await this.#readNew()
        if (performance.now() - this.#stateAt >= STATE_MS || isOver(this.#state)) await this.#readState()
        failed = false
      } catch (error) {
        if (!failed)
          this.#parts.log.warn('a log cannot be followed at the moment', { reason: errorText(error) })
        failed = true
      }
      const next = began + (failed ? FAILED_MS : POLL_MS)
      if (!this.#settled) await pause(Math.max(0, next - performance.now()))
    }
    this.#running = false
  }

  async #readNew(): Promise<void> {
    while (this.#followers > 0) {
      const bytes = await readLive(this.#parts.artifacts, this.#state, this.#end)
      if (bytes.length === 0) return
      this.#chunks.push(bytes)
      this.#end += bytes.length
      while (this.#end - this.#start > WINDOW_BYTES && this.#chunks.length > 1)
        this.#start += this.#chunks.shift()?.length ?? 0
      this.news.notify()
      // A block that is not full is the last one.
      if (this.#end % LIVE_BLOCK_BYTES !== 0) return
    }
  }

  async #readState(): Promise<void> {
    const { runs, artifacts } = this.#parts
    const now = await runs.logAgain(this.#state)
    this.#stateAt = performance.now()
    if (now === undefined) return this.#settle()
    if (now.attempt !== this.#state.attempt) return this.#moveTo(now)
    this.#state = now
    this.#sawRunning ||= !isOver(now)
    if (this.#isInterrupted(now)) {
      const later = await runs.logInLatest(now)
      if (later !== undefined && later.attempt > now.attempt) return this.#moveTo(later)
      if (!isTerminal(now.runStatus)) return
    }
    if (!isOver(now)) return
    if (isTerminal(now.runStatus) || (await hasFinal(artifacts, now))) this.#settle()
  }

  /** The attempt of the step is over although the step had not completed: the run was or will be started again. */
  #isInterrupted({ attempt, runAttempt, runStatus, step }: LogState): boolean {
    if (step === undefined || step.status === 'completed' || step.status === 'skipped') return false
    if (isTerminal(runStatus)) return this.#sawRunning && runAttempt > attempt
    return runAttempt > attempt || runStatus !== 'running'
  }

  #moveTo(state: LogState): void {
    this.#state = state
    this.#chunks = []
    this.#start = this.#end = 0
    this.news.notify()
  }

  #settle(): void {
    this.#settled = true
    this.news.notify()
  }
}
