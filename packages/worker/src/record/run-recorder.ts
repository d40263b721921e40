import {
  type ArtifactFound,
  type LogName,
  type EventRaised,
  LISTED_REFUSALS,
  NO_WORK,
  ANY_HOST,
  RECORDED_DESTINATIONS,
  type DestinationPlace,
  type RefusalRecord,
  type ResumePoint,
  type OutputStream,
  type RunKey,
  type RunRecorder as Recorder,
  type RunStore,
  type RunTally,
  type StepClosed,
  type StepOpened,
  withoutPassword,
} from '@scanfarm/contracts'
import { errorText } from '@scanfarm/platform'
import type { KeptRow } from '../resume/entries.ts'
import { ArtifactUploader, type ArtifactSource } from './artifact-uploader.ts'
import { LiveLogs } from './live-logs.ts'
import { RunLog, type GrowingLog, type LogLevel, type StepLog } from './logs.ts'
import { attemptIds, clipped, jsonWithNulReplaced, type AttemptIds } from './row-values.ts'
import { StepBuffer } from './step-buffer.ts'
import { WriteBuffer } from './write-buffer.ts'

export interface RunRecorderOptions extends ArtifactSource {
  readonly run: RunKey & { readonly runUuid: string }
  /** Where files of long outputs are made. */
  readonly folder: string
  /** What the attempt stores for the next one. */
  journal?():
    | {
        stepClosed(closed: StepClosed, counts: boolean, step: StepBuffer): void
        artifact(found: ArtifactFound): void | false
      }
    | undefined
  /** The live copies of logs cannot be stored. */
  onLiveFailure?(reason: string): void
}

/** Records what happens in one attempt, bounded and in order, in a buffer that a writer empties to Postgres. */
export class RunRecorder implements Recorder {
  readonly buffer: WriteBuffer
  readonly #options: RunRecorderOptions
  readonly #ids: AttemptIds
  readonly #runLog: RunLog
  readonly #uploader: ArtifactUploader
  readonly #live: LiveLogs
  readonly #openSteps = new Map<string, StepBuffer>()
  /** Open steps beyond the limit of rows. */
  readonly #stepsWithoutRow = new Set<string>()
  readonly #stepLogs = new Set<StepLog>()
  #tally = NO_WORK
  #steps = 0
  #events = 0
  #refusals = 0
  readonly #destinations = new Set<string>()

  constructor(options: RunRecorderOptions) {
    this.#options = options
    this.#ids = attemptIds(options.run.runUuid, options.run.attempt)
    this.buffer = new WriteBuffer(options.run, options)
    this.#runLog = new RunLog(options.limits.runLogBytes)
    this.#uploader = new ArtifactUploader({
      ...options,
      ids: this.#ids,
      buffer: this.buffer,
      warn: (line) => this.log('warn', line),
    })
    this.#live = new LiveLogs({
      artifacts: options.artifacts,
      prefix: this.#ids.storePrefix,
      growing: () => this.#growing(),
      onFailure: (reason) => options.onLiveFailure?.(reason),
    })
  }

  /** Whether somebody reads the logs while the run is executing. */
  follow(followed: boolean): void {
    this.#live.follow(followed)
  }

  plan(totalSteps: number): void {
    this.buffer.counters({ totalSteps })
  }

  facts(facts: Readonly<Record<string, string>>): void {
    if (Object.keys(facts).length > 0) this.buffer.facts(facts)
  }

  stepOpened(opened: StepOpened): void {
    const { limits, folder } = this.#options
    this.#steps += 1
    if (this.#steps > limits.steps) {
      this.#stepsWithoutRow.add(opened.key)
      if (this.#steps === limits.steps + 1)
        this.log(
          'warn',
          `a run has rows for at most ${limits.steps} steps; all further ones are only counted`,
        )
      return
    }
    const step = new StepBuffer(opened, { id: this.stepId(opened.key), limits, folder })
    this.#openSteps.set(opened.key, step)
    this.buffer.step(step)
  }

  stepId(key: string): string {
    return this.#ids.uuid('step', key)
  }

  output(stepKey: string, _stream: OutputStream, chunk: Buffer): void | Promise<void> {
    const step = this.#openSteps.get(stepKey)
    if (step === undefined || chunk.length === 0) return
    this.buffer.output(step)
    try {
      const pressure = step.write(chunk)
      if (step.log !== undefined) this.#stepLogs.add(step.log)
      return pressure
    } catch (error) {
      this.log('warn', `the log of step ${step.opened.name} cannot be written: ${errorText(error)}`)
    }
  }

  stepClosed({ afterItem = (note) => note(), ...closed }: StepClosed, counts: boolean): void {
    const step = this.#openSteps.get(closed.key)
    if (this.#stepsWithoutRow.delete(closed.key) && counts) this.buffer.countStep()
    if (step === undefined) return
    this.#openSteps.delete(closed.key)
    step.close(closed, this.#keepLog(step))
    const journal = this.#options.journal?.()
    if (journal !== undefined) afterItem(() => journal.stepClosed(closed, counts, step))
    this.buffer.step(step)
    if (counts) this.buffer.countStep()
  }

  /** The row of a step that an earlier attempt executed. */
  stepTakenOver({ key, counts, record }: KeptRow): void {
    this.#steps += 1
    if (counts) this.buffer.countStep()
    if (this.#steps > this.#options.limits.steps) return
    const row = { ...record, id: this.stepId(key) }
    const chars = record.command.length + record.output.length + record.errorMessage.length
    this.buffer.step({ version: 1, chars, record: () => row })
  }

  /** Where the attempt begins, if that is not where it was to begin. */
  beginsAt(what: string): void {
    this.log('warn', `begins at ${what}`)
    this.facts({ 'begins at': what })
  }

  resumePoint(point: ResumePoint): void {
    this.buffer.resumePoint(point)
  }

  tally(tally: RunTally): void {
    this.#tally = tally
    this.buffer.counters({ tally })
  }

  /** The figures that decide the outcome so far. */
  get tallied(): RunTally {
    return this.#tally
  }

  currentPid(pid: number): void {
    this.buffer.counters({ currentPid: pid })
  }

  artifact(found: ArtifactFound): void {
    // The run whose items a batch executes records them.
    if (this.#options.journal?.()?.artifact(found) !== false) this.#uploader.add(found)
  }

  event(event: EventRaised): void {
    const { limits } = this.#options
    this.#events += 1
    if (this.#events > limits.events) {
      if (this.#events === limits.events + 1)
        this.log('warn', `a run raises at most ${limits.events} events; all further ones are left out`)
      return
    }
    this.buffer.add('events', {
      eventId: this.#ids.eventId(this.#events),
      topic: event.topic,
      name: clipped(event.name, limits.nameChars),
      source: event.source,
      dataType: event.dataType,
      data: jsonWithNulReplaced(event.data),
    })
  }

  refused({ target, reason, place }: Omit<RefusalRecord, 'seq'>): void {
    const shown = clipped(withoutPassword(target), this.#options.limits.nameChars)
    this.log('warn', `refused ${shown}: ${reason}`)
    this.#refusals += 1
    if (this.#refusals <= LISTED_REFUSALS)
      this.buffer.add('refusals', { seq: this.#refusals, target: shown, reason, place })
  }

  /** Hosts that the run may send traffic to, by their place. */
  destinations(place: DestinationPlace, hosts: readonly string[]): void {
    for (const host of hosts) {
      const key = `${place} ${host}`
      if (this.#destinations.has(key) || this.#destinations.size > RECORDED_DESTINATIONS) continue
      this.#destinations.add(key)
      const isFull = this.#destinations.size > RECORDED_DESTINATIONS
      this.buffer.add('destinations', isFull ? { host: ANY_HOST, place: 'more' } : { host, place })
    }
  }

  log(level: LogLevel, line: string): void {
    this.#runLog.add(new Date(), level, clipped(line, this.#options.limits.messageChars))
  }

  /** Call it after the last fact: resolves when every file is uploaded, to the first problem or `""`. */
  async settle(): Promise<string> {
    await this.#uploader.settled()
    if (!this.#runLog.empty) this.#uploader.addRunLog(this.#runLog)
    return this.#uploader.settled()
  }

  /** Removes the live copies of logs. Call it after disposing. */
  removeLiveLogs(): Promise<void> {
    return this.#live.removeAll()
  }

  /** Removes uploads that have no row. Call it after disposing. */
  discardUploads(store: Pick<RunStore, 'strayKeys'>): Promise<void> {
    return this.#uploader.discard(store)
  }

  /** Ends uploads and frees the files of step logs. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#live[Symbol.asyncDispose]()
    await this.#uploader.close()
    for (const log of this.#stepLogs) await log[Symbol.asyncDispose]()
  }

  *#growing(): Generator<readonly [LogName, GrowingLog]> {
    yield ['run', this.#runLog]
    for (const step of this.#openSteps.values()) yield [step.opened.seq, step]
  }

  /** Returns the key that the log of an ended step will have, or `""` if its row has the whole output. */
  #keepLog(step: StepBuffer): string {
    const { seq } = step.opened
    if (this.#live.has(seq)) {
      try {
        step.keepBytes()
      } catch (error) {
        this.log('warn', `the log of step ${step.opened.name} cannot be written: ${errorText(error)}`)
      }
      if (step.log !== undefined) this.#stepLogs.add(step.log)
      this.#live.close(seq)
    }
    if (step.log === undefined) return ''
    // What cannot be removed now is removed at the end of the run.
    const removeCopy = (): Promise<void> => this.#live.remove(seq).catch(() => undefined)
    return this.#uploader.addStepLog(step.opened, step.log, removeCopy)
  }
}
