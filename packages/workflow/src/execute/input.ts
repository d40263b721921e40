import type { AskedRunner, Runner, RunnerSpec, RunOutcome, RunRecorder, RunTally } from '@scanfarm/contracts'
import type { AllowedPath } from '../functions/allowed.ts'
import type { FunctionServices } from '../functions/services.ts'
import type { ResolvedWorkflow } from '../library/resolve.ts'
import type { Engine } from './engine.ts'
import type { Folders, Owner, Ports } from './surroundings.ts'
import type { LocalTarget } from './target.ts'

export interface ExecuteLimits {
  /** Bytes of stdout, and of stderr, that stay in memory for exports. */
  readonly captureBytes: number
  /** Commands or steps of one `parallel_…` list at a time. */
  readonly parallel: number
  /** Modules of a flow at a time. */
  readonly parallelModules: number
  /** Steps of a module at a time where `depends_on` makes it a graph. */
  readonly parallelSteps: number
  /** Items of a foreach at a time, whatever `threads` says. */
  readonly foreachThreads: number
  /** Failed items of a foreach that get a row of their own. */
  readonly foreachFailedRows: number
  /** Steps that one module may start, repetitions through `goto` included. */
  readonly stepsPerModule: number
  /** Characters of one export in the record. */
  readonly exportChars: number
  /** Between TERM and KILL. */
  readonly graceMs: number
  /** Tries that `retry` may ask for. */
  readonly attempts: number
}

export const EXECUTE_LIMITS: ExecuteLimits = {
  captureBytes: 1 << 20,
  parallel: 8,
  parallelModules: 4,
  parallelSteps: 8,
  foreachThreads: 64,
  foreachFailedRows: 5,
  stepsPerModule: 10_000,
  exportChars: 16_384,
  graceMs: 1000,
  attempts: 20,
}

export interface ExecuteInput {
  readonly workflow: ResolvedWorkflow
  readonly target: string
  /** The target is the absolute path of something on this machine that the run may read. */
  readonly localTarget?: LocalTarget
  readonly params: Readonly<Record<string, string>>
  /** A param without a type is one word everywhere, also as an argument of a command. */
  readonly strictParams?: boolean
  readonly workspace: string
  readonly runUuid: string
  readonly runId: number
  readonly attempt: number
  readonly folders: Folders
  /** The environment of every command: nothing of this process is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Whom commands run as, where that is somebody else: files made for them are given to that user. */
  readonly owner?: Owner
  /** Paths outside of the run's folders that functions and steps may use, with the rights of that user. */
  readonly paths?: readonly AllowedPath[]
  /** Called once for each place where commands run; the runner is closed before `execute` returns. */
  openRunner(spec: RunnerSpec): Promise<Runner>
  /** Called with where the commands of a module run; the name is `""` for a module that is run by itself. */
  onPlace?(module: string, place: Pick<Runner, 'type' | 'facts'>): void
  /** What the caller asked for in place of the `runner` of every module; its other settings stay where they fit. */
  readonly askedRunner?: AskedRunner
  readonly recorder: RunRecorder
  /** Aborted with the reason `'timeout'` the run fails, with any other it is cancelled. */
  readonly signal: AbortSignal
  /** Shared by all runs of a process; without one the run makes its own and closes it. */
  readonly engine?: Engine
  readonly ports?: Partial<Ports>
  readonly limits?: Partial<ExecuteLimits>
  /** What functions may reach; those whose service is missing say so. */
  readonly services?: FunctionServices
  /** Variables of the operator's settings; trusted like the workflow's own text. */
  readonly variables?: Readonly<Record<string, string | number | boolean>>
  /** Of the program: `{{Version}}`. */
  readonly version?: string
  /** JSON text of the event that started the run, or `""`. */
  readonly eventEnvelope?: string
  /** Modules of a flow to leave out. */
  readonly exclude?: readonly string[]
  /** Leave out the check of dependencies. */
  readonly skipValidation?: boolean
  /** Values that never reach the record, nor files that get a copy of an output. */
  readonly secrets?: readonly string[]
  /** Nothing is executed; every step says what it would do. */
  readonly dryRun?: boolean
}

export interface ExecuteResult {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly errorMessage: string
  /** Missing for a dry run: nothing was to be done. */
  readonly outcome?: RunOutcome
  readonly tally: RunTally
  /** Processes that a cancel or a timeout killed. */
  readonly killedPids: readonly number[]
}
