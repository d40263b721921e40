import type {
  ArtifactStore,
  CollectArtifact,
  RunnerProvider,
  RunOutcome,
  RunStore,
} from '@scanfarm/contracts'
import type { AllowedPath, FunctionServices, Given } from '@scanfarm/workflow'
import type { Homes } from './homes.ts'
import type { ExecutorLimits, ExecutorTimes } from './limits.ts'
import type { ExecutorLog } from './log.ts'
import type { Introduction } from './presence.ts'
import type { Verdict } from './session.ts'
import type { RunSource } from './source.ts'
import type { CommandUsers } from './users/command-users.ts'

export type RunEnding = Verdict['status'] | 'lost' | 'handed-back'

export interface ExecutorOptions {
  readonly store: RunStore
  readonly source: RunSource
  readonly artifacts: ArtifactStore
  readonly collect: CollectArtifact
  readonly runners: RunnerProvider
  /** How this process presents itself; `slots` is also the number of runs at once. */
  readonly intro: Introduction
  /** Folder for the work folders of runs, on a local disk. */
  readonly folder: string
  /** Who commands of runs work as; missing: all as this process. */
  readonly users?: CommandUsers
  /** Where `HOME` of commands on this machine is; missing: the folder of the attempt. */
  readonly homes?: Homes | undefined
  /** What the operator gives to every run. */
  readonly given?: Given
  /** `PATH` of commands on this machine. */
  readonly path?: string
  /** What functions and steps may use besides the folders of the run. */
  readonly allowedPaths?: readonly AllowedPath[]
  /** Between TERM and KILL; missing: as the workflow engine has it. */
  readonly graceMs?: number
  /** Longest evaluation of one expression; missing: as the workflow engine has it. */
  readonly expressionMs?: number
  /** A param without a type is one word everywhere. */
  readonly strictParams?: boolean
  /** For runs without a timeout of their own; missing: none. */
  readonly defaultTimeoutMs?: number
  /** What functions of workflows reach besides the database, which every run sees through a fence of its own. */
  readonly services?: Omit<FunctionServices, 'database' | 'run'>
  readonly limits?: Partial<ExecutorLimits>
  readonly times?: Partial<ExecutorTimes>
  readonly log: ExecutorLog
  /** `outcome`: of a run that has ended for good. */
  onRunEnded?(ending: RunEnding, seconds: number, outcome?: RunOutcome): void
}
