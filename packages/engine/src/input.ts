import type {
  RunnerChoice,
  Runner,
  RunnerSpec,
  RunOutcome,
  RunRecorder,
  RunTally,
  Owner,
} from '@scanfarm/contracts'
import type { AllowedPath, FunctionServices, Folders, Ports, LocalTarget } from '@scanfarm/functions'
import type { ResolvedWorkflow } from '@scanfarm/language'
import type { Engine } from './engine.ts'
import type { ResumeService } from './flow/kept-unit.ts'
import type { Admit } from './step/pool.ts'
import type { BatchWork, SpreadService } from './flow/spread.ts'

export const EXECUTE_LIMITS = {
  /** Bytes of stdout, and of stderr, kept in memory for exports. */
  captureBytes: 1 << 20,
  /** Parallel commands or steps of one `parallel_…` list. */
  parallel: 8,
  /** Parallel modules of a flow. */
  parallelModules: 4,
  /** Parallel steps of a module whose steps have `depends_on`. */
  parallelSteps: 8,
  /** Parallel items of a foreach; an upper limit for `threads`. */
  foreachThreads: 64,
  /** Failed items of a foreach that are recorded as steps. */
  foreachFailedRows: 5,
  /** Steps that one module may start, including repetitions through `goto`. */
  stepsPerModule: 10_000,
  /** Recorded characters of one export. */
  exportChars: 16_384,
  /** Time between TERM and KILL. */
  graceMs: 1000,
  /** Upper limit for the attempts of `retry`. */
  attempts: 20,
}
export type ExecuteLimits = Readonly<typeof EXECUTE_LIMITS>

export interface ExecuteInput {
  readonly workflow: ResolvedWorkflow
  readonly target: string
  /** Set if the target is an absolute path on this machine that the run may read. */
  readonly localTarget?: LocalTarget
  readonly params: Readonly<Record<string, string>>
  /** Untyped params are quoted as one word everywhere, also where they could be several arguments. */
  readonly strictParams?: boolean
  readonly workspace: string
  /** Connections or requests a second that it may send; missing: any number. */
  readonly rate?: number
  /** Variables for a command that gets a part of the rate. */
  rateVariables?(rate: number): Readonly<Record<string, string>>
  readonly runUuid: string
  readonly runId: number
  readonly attempt: number
  readonly folders: Folders
  /** The environment of commands. Nothing is inherited from this process. */
  readonly env: Readonly<Record<string, string>>
  /** The user that commands run as, if not that of this process. It owns the files made for commands. */
  readonly owner?: Owner
  /**
   * Makes the folders of the run and resolves to the `owner`. Called once, before the first command, function or file
   * access of the run: a run whose steps are all skipped never calls it. If it rejects, the run fails.
   */
  openDirectory?(): Promise<Owner | undefined>
  /** Paths outside of the run's folders that functions and steps may use, with the rights of `owner`. */
  readonly paths?: readonly AllowedPath[]
  /** Opens a runner. The engine closes it before `execute` returns. */
  openRunner(spec: RunnerSpec): Promise<Runner>
  /** Reports the runner of each module. `module` is `""` if the run's workflow is a module. */
  onRunner?(module: string, runner: Pick<Runner, 'type' | 'facts'>): void
  /** The caller's choice of runner overrides that of every module, whose other settings stay where they fit. */
  readonly runnerChoice?: RunnerChoice
  readonly recorder: RunRecorder
  /** If missing, nothing is kept for a later attempt. */
  readonly resume?: ResumeService | undefined
  /** Slots for further threads of loops. If missing, all threads that a step asks for run, and one by default. */
  readonly slots?: { readonly take: Admit } | undefined
  /** If missing, the items of loops with `spread` are executed as those of others. */
  readonly spread?: SpreadService | undefined
  /** Executes these items of a loop of another run, instead of the workflow. */
  readonly batch?: BatchWork | undefined
  /** If aborted with the reason `'timeout'`, the run fails; otherwise it is cancelled. */
  readonly signal: AbortSignal
  /** Shared by all runs of a process. If missing, the run creates and closes its own. */
  readonly engine?: Engine
  readonly ports?: Partial<Ports>
  readonly limits?: Partial<ExecuteLimits>
  /** External services for functions. Functions whose service is missing fail with an error that names it. */
  readonly services?: FunctionServices
  /** Variables from the operator's settings; trusted like the text of the workflow. */
  readonly variables?: Readonly<Record<string, string | number | boolean>>
  /** Version of the program, available as `{{Version}}`. */
  readonly version?: string
  /** JSON text of the event that started the run, or `""`. */
  readonly eventEnvelope?: string
  /** Skips the check of dependencies. */
  readonly skipValidation?: boolean
  /** Values that are masked in the record and in files that receive a copy of an output. */
  readonly secrets?: readonly string[]
  /** Executes nothing; each step records what it would do. */
  readonly dryRun?: boolean
}

export interface ExecuteResult {
  readonly status: 'completed' | 'failed' | 'cancelled'
  readonly errorMessage: string
  /** Missing for a dry run. */
  readonly outcome?: RunOutcome
  readonly tally: RunTally
  /** Processes that were killed on cancel or timeout. */
  readonly killedPids: readonly number[]
}
