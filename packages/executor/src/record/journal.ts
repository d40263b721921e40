import { NO_WORK } from '@scanfarm/contracts'
import type {
  ArtifactFound,
  EventRaised,
  OutputStream,
  RunKey,
  RunRecorder,
  RunTally,
  StoredObject,
  StepClosed,
  StepOpened,
} from '@scanfarm/contracts'
import type { ExecutorTimes } from '../limits.ts'
import type { ExecutorLog } from '../log.ts'
import { reasonOf } from '../retry.ts'
import { ArtifactDesk, type ArtifactSource } from './artifact-desk.ts'
import { Changes, type Batch } from './changes.ts'
import { Filing } from './filing.ts'
import { RunLog, type LogLevel } from './run-log.ts'
import type { StepLog } from './step-log.ts'
import { StepPage } from './step-page.ts'
import { clipped, storableJson } from './storable.ts'

export interface JournalOptions extends ArtifactSource {
  readonly run: RunKey & { readonly runUuid: string; readonly target: string }
  /** Where files of long outputs are made. */
  readonly folder: string
  readonly times: ExecutorTimes
  /** Aborts when the run is being stopped. */
  readonly signal: AbortSignal
  readonly log: ExecutorLog
}

/** Takes down what happens in one attempt, bounded and in order, until a writer takes it to Postgres. */
export class Journal implements RunRecorder {
  readonly #options: JournalOptions
  readonly #changes: Changes
  readonly #filing: Filing
  readonly #runLog: RunLog
  readonly #artifacts: ArtifactDesk
  readonly #pages = new Map<string, StepPage>()
  /** Open steps that have no row. */
  readonly #rowless = new Set<string>()
  readonly #logs = new Set<StepLog>()
  readonly #waiting: (() => void)[] = []
  #tally = NO_WORK
  readonly #storedKeys = new Set<string>()
  /** The first key of each content: tools print what they write into a file, too. */
  readonly #keyOfContent = new Map<string, string>()
  #steps = 0
  #events = 0

  constructor(options: JournalOptions) {
    this.#options = options
    this.#changes = new Changes(options.run)
    this.#runLog = new RunLog(options.limits.runLogBytes)
    const { retryFirstMs, retryMostMs, artifactRetryMs } = options.times
    this.#filing = new Filing({
      retry: { firstMs: retryFirstMs, mostMs: retryMostMs },
      limitMs: artifactRetryMs,
      signal: options.signal,
    })
    this.#artifacts = new ArtifactDesk({
      ...options,
      changes: this.#changes,
      filing: this.#filing,
      stored: (key, object) => this.#stored(key, object),
      warn: (line) => this.log('warn', line),
    })
    options.signal.addEventListener('abort', () => this.#wake(), { once: true })
  }

  plan(totalSteps: number): void {
    this.#changes.figures({ totalSteps })
  }

  facts(facts: Readonly<Record<string, string>>): void {
    if (Object.keys(facts).length > 0) this.#changes.facts(facts)
  }

  stepOpened(step: StepOpened): void {
    const { identity, limits, folder } = this.#options
    this.#steps += 1
    if (this.#steps > limits.steps) {
      this.#rowless.add(step.key)
      if (this.#steps === limits.steps + 1)
        this.log(
          'warn',
          `a run has rows for at most ${limits.steps} steps; all further ones are only counted`,
        )
      return
    }
    const page = new StepPage(step, { id: identity.uuid('step', step.key), limits, folder })
    this.#pages.set(step.key, page)
    this.#changes.step(page)
  }

  output(stepKey: string, _stream: OutputStream, chunk: Buffer): void | Promise<void> {
    const page = this.#pages.get(stepKey)
    if (page === undefined || chunk.length === 0) return
    this.#changes.output(page)
    try {
      const pressure = page.write(chunk)
      if (page.log !== undefined) this.#logs.add(page.log)
      return pressure
    } catch (error) {
      this.log('warn', `the log of step ${page.opened.name} cannot be written: ${reasonOf(error)}`)
    }
  }

  stepClosed(step: StepClosed, counts: boolean): void {
    const page = this.#pages.get(step.key)
    if (this.#rowless.delete(step.key) && counts) this.#changes.countStep()
    if (page === undefined) return
    this.#pages.delete(step.key)
    page.close(step, page.log === undefined ? '' : this.#fileLog(page.opened, page.log))
    this.#changes.step(page)
    if (counts) this.#changes.countStep()
  }

  tally(tally: RunTally): void {
    this.#tally = tally
    this.#changes.figures({ tally })
  }

  /** What the outcome follows from so far. */
  get counted(): RunTally {
    return this.#tally
  }

  currentPid(pid: number): void {
    this.#changes.figures({ currentPid: pid })
  }

  artifact(found: ArtifactFound): void {
    this.#artifacts.add(found)
  }

  event(event: EventRaised): void {
    const { identity, limits } = this.#options
    this.#events += 1
    if (this.#events > limits.events) {
      if (this.#events === limits.events + 1)
        this.log('warn', `a run raises at most ${limits.events} events; all further ones are left out`)
      return
    }
    this.#changes.event({
      eventId: identity.eventId(this.#events),
      topic: event.topic,
      name: clipped(event.name, limits.nameChars),
      source: event.source,
      dataType: event.dataType,
      data: storableJson(event.data),
    })
  }

  log(level: LogLevel, line: string): void {
    this.#runLog.add(new Date(), level, line)
  }

  /** Resolves when so little waits to be written that more work may be begun, or when the run is stopped. */
  async room(): Promise<void> {
    const { limits, signal } = this.#options
    const full = (): boolean =>
      this.#changes.size > limits.backlogItems || this.#changes.chars > limits.backlogChars
    while (!signal.aborted && full()) await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }

  due(): boolean {
    const { flushMs, outputFlushMs } = this.#options.times
    return this.#changes.due(flushMs, outputFlushMs)
  }

  /** The next part to write; one at a time, each followed by `saved` or `again`. */
  take(): Batch | undefined {
    return this.#changes.take(this.#options.limits.batchItems, this.#options.limits.batchChars)
  }

  saved(batch: Batch): void {
    batch.saved()
    this.#wake()
  }

  again(): void {
    this.#changes.again()
  }

  /** After the last fact: resolves when every file is in the artifact store, to what went wrong or `""`. */
  async settle(): Promise<string> {
    await this.#filing.settled()
    if (!this.#runLog.empty) this.#artifacts.addRunLog(this.#runLog)
    return this.#filing.settled()
  }

  /** Under which this attempt has put bytes into the artifact store. */
  get storedKeys(): readonly string[] {
    return [...this.#storedKeys]
  }

  /** Nothing will be written any more: frees what the logs of steps hold. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#filing.stop()
    await this.#filing.settled()
    for (const log of this.#logs) await log[Symbol.asyncDispose]()
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #stored(key: string, { size, sha256 }: StoredObject): string {
    this.#storedKeys.add(key)
    const content = `${size} ${sha256}`
    const first = this.#keyOfContent.get(content) ?? key
    this.#keyOfContent.set(content, first)
    return first
  }

  #fileLog(step: StepOpened, log: StepLog): string {
    const { artifacts, identity } = this.#options
    const key = `${identity.storePrefix}/logs/${step.seq}.log`
    this.#filing.add(`the log of step ${step.name}`, async () => {
      await log.end()
      this.#stored(key, await log.store(artifacts, key))
    })
    return key
  }
}
