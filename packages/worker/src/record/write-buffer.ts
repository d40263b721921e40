import {
  NO_WORK,
  type ArtifactRecord,
  type EventRecord,
  type DestinationRecord,
  type RefusalRecord,
  type ResumePoint,
  type RunKey,
  type RunTally,
  type RunUpdate,
} from '@scanfarm/contracts'
import type { ExecutorLimits, ExecutorTimes } from '../slots/limits.ts'
import type { StepRow } from './step-buffer.ts'

/** The counters of a run's row. */
export interface RunCounters {
  totalSteps: number
  completedSteps: number
  currentPid: number
  tally: RunTally
}

const NO_COUNTERS: Readonly<RunCounters> = { totalSteps: 0, completedSteps: 0, currentPid: 0, tally: NO_WORK }

/** Changes to write in one statement. They stay in the buffer until `saved` is called. */
export interface Batch {
  readonly update: RunUpdate
  /** The buffer holds no other changes. */
  readonly last: boolean
  saved(): void
  /** The next batch holds the same changes again. */
  failed(): void
}

/** Approximate text in the row of an artifact. */
const ARTIFACT_CHARS = 512

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
  #savedCounters: Readonly<RunCounters> = NO_COUNTERS
  #facts: Readonly<Record<string, string>> | undefined
  #resume: ResumePoint | undefined
  readonly #steps = new Set<StepRow>()
  #artifacts: ArtifactRecord[] = []
  #events: EventRecord[] = []
  #refusals: RefusalRecord[] = []
  #destinations: DestinationRecord[] = []
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

  artifact(record: ArtifactRecord): void {
    this.#artifacts.push(record)
    this.#changed()
  }

  event(record: EventRecord): void {
    this.#events.push(record)
    this.#changed()
  }

  destination(record: DestinationRecord): void {
    this.#destinations.push(record)
    this.#changed()
  }

  refusal(record: RefusalRecord): void {
    this.#refusals.push(record)
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
    const artifacts = budget.take(this.#artifacts, () => ARTIFACT_CHARS)
    const events = budget.take(this.#events, (event) => event.data.length)
    const refusals = budget.take(this.#refusals, ({ target, reason }) => target.length + reason.length)
    const destinations = budget.take(this.#destinations, ({ host }) => host.length)
    const counters = { ...this.#counters }
    const facts = this.#facts
    const resume = this.#resume
    this.#changedAt = this.#outputAt = undefined
    // Counters never run ahead of the steps that they count.
    const hasAllSteps = steps.length === this.#steps.size
    const taken = [steps, artifacts, events, refusals, destinations]
    const last = this.#size === taken.reduce((sum, { length }) => sum + length, 0)
    const update: RunUpdate = {
      ...this.#key,
      ...this.#changedCounters(counters, hasAllSteps),
      ...(facts && { facts }),
      // A step counts as done once its row says so.
      ...(resume && hasAllSteps && { resume }),
      ...(steps.length > 0 && { steps: steps.map((step) => step.record()) }),
      ...(artifacts.length > 0 && { artifacts }),
      ...(events.length > 0 && { events }),
      ...(refusals.length > 0 && { refusals }),
      ...(destinations.length > 0 && { destinations }),
    }
    const saved = (): void => {
      const { completedSteps, tally } = this.#savedCounters
      this.#savedCounters = hasAllSteps ? counters : { ...counters, completedSteps, tally }
      if (this.#facts === facts) this.#facts = undefined
      if (hasAllSteps && this.#resume === resume) this.#resume = undefined
      steps.forEach((step, index) => step.version === versions[index] && this.#steps.delete(step))
      this.#artifacts = this.#artifacts.slice(artifacts.length)
      this.#events = this.#events.slice(events.length)
      this.#refusals = this.#refusals.slice(refusals.length)
      this.#destinations = this.#destinations.slice(destinations.length)
      if (!last) this.#changed()
      this.#releaseWaiting()
    }
    return { update, last, saved, failed: () => this.#changed() }
  }

  #changed(): void {
    this.#changedAt ??= performance.now()
  }

  get #size(): number {
    const lists = [this.#artifacts, this.#events, this.#refusals, this.#destinations]
    return lists.reduce((sum, { length }) => sum + length, this.#steps.size)
  }

  #isFull(): boolean {
    const { backlogItems, backlogChars } = this.#options.limits
    let chars = this.#artifacts.length * ARTIFACT_CHARS
    for (const step of this.#steps) chars += step.chars
    for (const event of this.#events) chars += event.data.length
    for (const { host } of this.#destinations) chars += host.length
    for (const { target, reason } of this.#refusals) chars += target.length + reason.length
    return this.#size > backlogItems || chars > backlogChars
  }

  #releaseWaiting(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #changedCounters(now: RunCounters, withCount: boolean): Partial<RunCounters> {
    const before = this.#savedCounters
    return {
      ...(now.totalSteps !== before.totalSteps && { totalSteps: now.totalSteps }),
      ...(withCount &&
        now.completedSteps !== before.completedSteps && { completedSteps: now.completedSteps }),
      ...(now.currentPid !== before.currentPid && { currentPid: now.currentPid }),
      ...(withCount && now.tally !== before.tally && { tally: now.tally }),
    }
  }
}
