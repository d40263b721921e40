import type { OutputStream } from './runner.ts'
import type { RunTally } from './run-outcome.ts'
import type { StepStatus } from './run-status.ts'
import type { ArtifactType, ContentType } from '../enums.ts'

/** A new step. `key` is unique within (run, attempt) and the same in every attempt. */
export interface StepOpened {
  readonly key: string
  /** Position in the order of opening, from 1. Lists of steps are sorted by it. */
  readonly seq: number
  readonly name: string
  /** Step type of the workflow, like `bash`, `function` or `foreach`. */
  readonly type: string
  /** Module of the flow that the step belongs to, or `""`. */
  readonly module: string
  /** The rendered command or expression with secrets masked, at most 64 KiB. */
  readonly command: string
  readonly startedAt: Date
}

export interface StepClosed {
  readonly key: string
  readonly status: Extract<StepStatus, 'completed' | 'failed' | 'skipped' | 'cancelled'>
  readonly errorMessage: string
  readonly exports: Readonly<Record<string, string>>
  readonly exitCode?: number
  readonly durationMs: number
  readonly completedAt: Date
  /** Of a step inside an item of a loop: calls back when the item has ended, unless another attempt executes it again. */
  readonly afterItem?: (note: () => void) => void
}

export interface ArtifactFound {
  readonly name: string
  /** Absolute path on the executing machine, inside the run's folder. */
  readonly path: string
  readonly type: ArtifactType
  /** Given by the workflow; if missing, derived from the extension. */
  readonly contentType?: ContentType
  readonly description: string
}

export interface EventRaised {
  readonly topic: string
  readonly name: string
  readonly source: string
  readonly dataType: string
  readonly data: unknown
}

/**
 * Receives what happens in a run. Calls never throw and never wait for a database: entries are buffered and written in
 * order. Only `output` may return a promise (back-pressure).
 */
export interface RunRecorder {
  /** Sets the number of steps that count towards `total_steps`. A later call replaces it. */
  plan(totalSteps: number): void
  stepOpened(step: StepOpened): void
  output(stepKey: string, stream: OutputStream, chunk: Buffer): void | Promise<void>
  /** `counts`: the step is one of `totalSteps` and increments `completed_steps`, even if it was skipped. */
  stepClosed(step: StepClosed, counts: boolean): void
  /** The numbers that determine the outcome. Each call replaces the previous one. */
  tally(tally: RunTally): void
  /** The process that a step has just started; 0 if none is running. */
  currentPid(pid: number): void
  artifact(found: ArtifactFound): void
  event(event: EventRaised): void
  /** Adds a line to the run's own log: `log` of the author, warnings of the engine. */
  log(level: 'debug' | 'info' | 'warn' | 'error', line: string): void
}
