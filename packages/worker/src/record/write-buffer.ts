import {
  NO_WORK,
  type ArtifactRecord,
  type EventRecord,
  type DestinationRecord,
  type RefusalRecord,
  type ResumePoint,
  type RunKey,
  type RunUpdate,
} from '@scanfarm/contracts'
import type { ExecutorLimits, ExecutorTimes } from '../slots/limits.ts'
import type { StepRow } from './step-buffer.ts'

/** The counters of a run's row. */
type RunCounters = Required<Pick<RunUpdate, 'totalSteps' | 'completedSteps' | 'currentPid' | 'tally'>>

const NO_COUNTERS: RunCounters = { totalSteps: 0, completedSteps: 0, currentPid: 0, tally: NO_WORK }

/** Changes to write in one statement. They stay in the buffer until `saved` is called. */
export interface Batch {
  readonly update: RunUpdate
  /** The buffer holds no other changes. */
  readonly last: boolean
  saved(): void
  /** The next batch holds the same changes again. */
  failed(): void
}

/** Rows that are written once, in their order, by their name in an update. */
interface Rows {
  artifacts: ArtifactRecord
  events: EventRecord
  refusals: RefusalRecord
  destinations: DestinationRecord
}
type Kind = keyof Rows

/** Approximate text in a row. */
const CHARS: { readonly [K in Kind]: (row: Rows[K]) => number } = {
  artifacts: () => 512,
  events: ({ data }) => data.length,
  refusals: ({ target, reason }) => target.length + reason.length,
  destinations: ({ host }) => host.length,
}
const KINDS: readonly Kind[] = ['artifacts', 'events', 'refusals', 'destinations']

/** The budget of one batch: always enough for the first row. */
class Budget {
  #items: number
  #chars: number

  constructor(items: number, chars: number) {
    this.#items = items
    this.#chars = chars
  }

  take<T>(from: Iterable<T>, charsOf: (item: T) => number): T[] {
    const taken: T[] = []
    for (const item of from) {
      if (this.#items === 0 || this.#chars <= 0) break
      this.#items -= 1
      this.#chars -= charsOf(item)
      taken.push(item)
    }
    return taken
  }
}

export interface WriteBufferOptions {
  readonly limits: ExecutorLimits
  readonly times: ExecutorTimes
  /** Aborts when the run is being stopped. */
  readonly signal: AbortSignal
}

/** Changes of one attempt that are not known to be in Postgres. Bounded: `waitForCapacity` delays further work. */
export class WriteBuffer {
  readonly #key: RunKey
  readonly #options: WriteBufferOptions
  readonly #counters: RunCounters = { ...NO_COUNTERS }
  #savedCounters = NO_COUNTERS
  #facts: Readonly<Record<string, string>> | undefined
  #resume: ResumePoint | undefined
  readonly #steps = new Set<StepRow>()
  readonly #rows: { readonly [K in Kind]: Rows[K][] } = {
    artifacts: [],
    events: [],
    refusals: [],
    destinations: [],
  }
  #changedAt: number | undefined
  #outputAt: number | undefined
  readonly #waiting: (() => void)[] = []

  constructor({ runId, attempt }: RunKey, options: WriteBufferOptions) {
    this.#key = { runId, attempt }
    this.#options = options
    options.signal.addEventListener('abort', () => this.#releaseWaiting(), { once: true })
  }

  /** Whether a change has waited for its time: `flushMs`, or `outputFlushMs` for output alone. */
  shouldFlush(): boolean {
    const { flushMs, outputFlushMs } = this.#options.times
    const now = performance.now()
    const waited = (since: number | undefined, ms: number): boolean =>
      since !== undefined && now - since >= ms
    return waited(this.#changedAt, flushMs) || waited(this.#outputAt, outputFlushMs)
  }

  /** Resolves when the buffer has capacity for more work, or when the run is stopped. */
  async waitForCapacity(): Promise<void> {
    const { signal } = this.#options
    while (!signal.aborted && this.#isFull())
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  counters(change: Partial<RunCounters>): void {
    Object.assign(this.#counters, change)
    this.#changed()
  }

  countStep(): void {
    this.counters({ completedSteps: this.#counters.completedSteps + 1 })
  }

  facts(facts: Readonly<Record<string, string>>): void {
    this.#facts = { ...this.#facts, ...facts }
    this.#changed()
  }

  resumePoint(point: ResumePoint): void {
    this.#resume = point
    this.#changed()
  }

  step(step: StepRow): void {
    this.#steps.add(step)
    this.#changed()
  }

  output(step: StepRow): void {
    this.#steps.add(step)
    this.#outputAt ??= performance.now()
  }

  add<K extends Kind>(kind: K, row: Rows[K]): void {
    this.#rows[kind].push(row)
    this.#changed()
  }

  /**
   * The oldest changes within the limits of a batch, and all counters; undefined when nothing has changed. Call `saved`
   * or `failed` of a batch before taking the next one.
   */
  take(): Batch | undefined {
    if (this.#changedAt === undefined && this.#outputAt === undefined) return undefined
    const { batchItems, batchChars } = this.#options.limits
    const budget = new Budget(batchItems, batchChars)
    const steps = budget.take(this.#steps, (step) => step.chars)
    const versions = steps.map((step) => step.version)
    const rows = KINDS.map((kind) => [kind, this.#take(kind, budget)] as const)
    const counters = { ...this.#counters }
    const facts = this.#facts
    const resume = this.#resume
    this.#changedAt = this.#outputAt = undefined
    // Counters never run ahead of the steps that they count.
    const hasAllSteps = steps.length === this.#steps.size
    const last = this.#size === rows.reduce((sum, [, { length }]) => sum + length, steps.length)
    const update: RunUpdate = {
      ...this.#key,
      ...this.#changedCounters(counters, hasAllSteps),
      ...(facts && { facts }),
      // A step counts as done once its row says so.
      ...(resume && hasAllSteps && { resume }),
      ...(steps.length > 0 && { steps: steps.map((step) => step.record()) }),
      ...Object.fromEntries(rows.filter(([, { length }]) => length > 0)),
    }
    const saved = (): void => {
      const { completedSteps, tally } = this.#savedCounters
      this.#savedCounters = hasAllSteps ? counters : { ...counters, completedSteps, tally }
      if (this.#facts === facts) this.#facts = undefined
      if (hasAllSteps && this.#resume === resume) this.#resume = undefined
      steps.forEach((step, index) => step.version === versions[index] && this.#steps.delete(step))
      for (const [kind, { length }] of rows) this.#rows[kind].splice(0, length)
      if (!last) this.#changed()
      this.#releaseWaiting()
    }
    return { update, last, saved, failed: () => this.#changed() }
  }

  #changed(): void {
    this.#changedAt ??= performance.now()
  }

  #take<K extends Kind>(kind: K, budget: Budget): Rows[K][] {
    return budget.take(this.#rows[kind], CHARS[kind])
  }

  #chars<K extends Kind>(kind: K): number {
    return this.#rows[kind].reduce((sum, row) => sum + CHARS[kind](row), 0)
  }

  get #size(): number {
    return KINDS.reduce((sum, kind) => sum + this.#rows[kind].length, this.#steps.size)
  }

  #isFull(): boolean {
    const { backlogItems, backlogChars } = this.#options.limits
    let chars = KINDS.reduce((sum, kind) => sum + this.#chars(kind), 0)
    for (const step of this.#steps) chars += step.chars
    return this.#size > backlogItems || chars > backlogChars
  }

  #releaseWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #changedCounters(now: RunCounters, withCount: boolean): Partial<RunCounters> {
    const { completedSteps, tally, ...others } = now
    const before: Partial<Record<string, unknown>> = { ...this.#savedCounters }
    const all = { ...others, ...(withCount && { completedSteps, tally }) }
    return Object.fromEntries(Object.entries(all).filter(([name, value]) => value !== before[name]))
  }
}
