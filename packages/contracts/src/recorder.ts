import type { OutputStream } from './runner.ts'
import type { RunTally } from './run-outcome.ts'
import type { StepStatus } from './run-status.ts'
import type { ArtifactType, ContentType } from './words.ts'

/** A step row that comes into being. `key` is unique within (run, attempt) and the same on every attempt. */
export interface StepOpened {
  readonly key: string
  /** Position in the order of opening, from 1; lists of steps are sorted by it. */
  readonly seq: number
  readonly name: string
  /** `bash`, `function`, `foreach`… as in the workflow. */
  readonly type: string
  /** Flow module that the step belongs to, or `""`. */
  readonly module: string
  /** The command or expression as rendered, secrets masked, at most 64 KiB. */
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
}

export interface ArtifactFound {
  readonly name: string
  /** Absolute path on the executor's machine, inside the run's folder. */
  readonly path: string
  readonly type: ArtifactType
  /** Given by the workflow; missing: by extension. */
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
 * Where an executing run tells what happens. Calls never throw and never wait for a database: they are buffered and
 * written in order. Only `output` may answer with a promise (back-pressure).
 */
export interface RunRecorder {
  /** How many steps count towards `total_steps`; may be told again when it becomes known better. */
  plan(totalSteps: number): void
  stepOpened(step: StepOpened): void
  output(stepKey: string, stream: OutputStream, chunk: Buffer): void | Promise<void>
  /** `counts`: the step is one of `totalSteps`, so `completed_steps` grows (skipped steps count too). */
  stepClosed(step: StepClosed, counts: boolean): void
  /** The figures that decide the outcome, so far; each call replaces the one before. */
  tally(tally: RunTally): void
  /** The process that a step has just started; 0 when none runs. */
  currentPid(pid: number): void
  artifact(found: ArtifactFound): void
  event(event: EventRaised): void
  /** A line of the run's own log (author's `log`, warnings of the engine). */
  log(level: 'debug' | 'info' | 'warn' | 'error', line: string): void
}
