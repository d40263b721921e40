import {
  NO_WORK,
  type ArtifactRecord,
  type EventRecord,
  type RunKey,
  type RunTally,
  type RunUpdate,
} from '@scanfarm/contracts'
import type { StepPage } from './step-page.ts'

/** The figures of a run's row. */
export interface RunFigures {
  totalSteps: number
  completedSteps: number
  currentPid: number
  tally: RunTally
}

const NO_FIGURES: Readonly<RunFigures> = { totalSteps: 0, completedSteps: 0, currentPid: 0, tally: NO_WORK }

/** What has been taken to be written. `saved` says that it was; without it the same is taken again. */
export interface Batch {
  readonly update: RunUpdate
  /** Nothing else waits. */
  readonly last: boolean
  saved(): void
}

/** About what an artifact's row has. */
const ARTIFACT_CHARS = 512

/** The room in one batch: for the first fact always, for others as long as there is some. */
class Room {
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

/** What happened in one attempt and is not known to be in Postgres. */
export class Changes {
  readonly #key: RunKey
  readonly #figures: RunFigures = { ...NO_FIGURES }
  #savedFigures: Readonly<RunFigures> = NO_FIGURES
  #facts: Readonly<Record<string, string>> | undefined
  readonly #steps = new Set<StepPage>()
  #artifacts: ArtifactRecord[] = []
  #events: EventRecord[] = []
  #factsSince: number | undefined
  #outputSince: number | undefined

  constructor(key: RunKey) {
    this.#key = { runId: key.runId, attempt: key.attempt }
  }

  /** Rows that wait. */
  get size(): number {
    return this.#steps.size + this.#artifacts.length + this.#events.length
  }

  /** About how much text these have. */
  get chars(): number {
    let chars = this.#artifacts.length * ARTIFACT_CHARS
    for (const page of this.#steps) chars += page.chars
    for (const event of this.#events) chars += event.data.length
    return chars
  }

  /** Whether something has waited longer than these times (milliseconds). */
  due(flushMs: number, outputFlushMs: number): boolean {
    const now = performance.now()
    const waited = (since: number | undefined, ms: number): boolean =>
      since !== undefined && now - since >= ms
    return waited(this.#factsSince, flushMs) || waited(this.#outputSince, outputFlushMs)
  }

  figures(change: Partial<RunFigures>): void {
    Object.assign(this.#figures, change)
    this.#touch()
  }

  countStep(): void {
    this.figures({ completedSteps: this.#figures.completedSteps + 1 })
  }

  facts(facts: Readonly<Record<string, string>>): void {
    this.#facts = { ...this.#facts, ...facts }
    this.#touch()
  }

  step(page: StepPage): void {
    this.#steps.add(page)
    this.#touch()
  }

  output(page: StepPage): void {
    this.#steps.add(page)
    this.#outputSince ??= performance.now()
  }

  artifact(record: ArtifactRecord): void {
    this.#artifacts.push(record)
    this.#touch()
  }

  event(record: EventRecord): void {
    this.#events.push(record)
    this.#touch()
  }

  /** At most `limit` rows with about `mostChars` of text, oldest first, and all figures. `undefined`: nothing waits. One batch at a time. */
  take(limit: number, mostChars: number): Batch | undefined {
    if (this.#factsSince === undefined && this.#outputSince === undefined) return undefined
    const room = new Room(limit, mostChars)
    const pages = room.take(this.#steps, (page) => page.chars)
    const versions = pages.map((page) => page.version)
    const artifacts = room.take(this.#artifacts, () => ARTIFACT_CHARS)
    const events = room.take(this.#events, (event) => event.data.length)
    const figures = { ...this.#figures }
    const facts = this.#facts
    this.#factsSince = this.#outputSince = undefined
    // Counters never run ahead of the steps that they count.
    const all = pages.length === this.#steps.size
    const more = this.size > pages.length + artifacts.length + events.length
    const update: RunUpdate = {
      ...this.#key,
      ...this.#changedFigures(figures, all),
      ...(facts && { facts }),
      ...(pages.length > 0 && { steps: pages.map((page) => page.record()) }),
      ...(artifacts.length > 0 && { artifacts }),
      ...(events.length > 0 && { events }),
    }
    const saved = (): void => {
      const { completedSteps, tally } = this.#savedFigures
      this.#savedFigures = all ? figures : { ...figures, completedSteps, tally }
      if (this.#facts === facts) this.#facts = undefined
      pages.forEach((page, index) => page.version === versions[index] && this.#steps.delete(page))
      this.#artifacts = this.#artifacts.slice(artifacts.length)
      this.#events = this.#events.slice(events.length)
      if (more) this.#touch()
    }
    return { update, last: !more, saved }
  }

  /** After a batch that was not saved: it waits again. */
  again(): void {
    this.#touch()
  }

  #touch(): void {
    this.#factsSince ??= performance.now()
  }

  #changedFigures(now: RunFigures, withCount: boolean): Partial<RunFigures> {
    const before = this.#savedFigures
    return {
      ...(now.totalSteps !== before.totalSteps && { totalSteps: now.totalSteps }),
      ...(withCount &&
        now.completedSteps !== before.completedSteps && { completedSteps: now.completedSteps }),
      ...(now.currentPid !== before.currentPid && { currentPid: now.currentPid }),
      ...(withCount && now.tally !== before.tally && { tally: now.tally }),
    }
  }
}
