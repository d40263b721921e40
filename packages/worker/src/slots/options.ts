import type {
  ArtifactStore,
  CollectArtifact,
  RunnerProvider,
  RunRefusalPlace,
  RunOutcome,
  RunStore,
} from '@scanfarm/contracts'
import type { Logger } from '@scanfarm/platform'
import type { OperatorInput } from '@scanfarm/engine'
import type { AllowedPath, FunctionServices } from '@scanfarm/functions'
import type { Enforcement } from '../network/open-firewall.ts'
import type { Homes } from '../workspaces/homes.ts'
import type { ExecutorLimits, ExecutorTimes } from './limits.ts'
import type { Introduction } from './worker-lease.ts'
import type { Verdict } from './session.ts'
import type { RunSource } from './run-sources.ts'
import type { CommandUsers } from '../users/command-users.ts'

export type RunEnding = Verdict['status'] | 'lost' | 'handed-back'

export interface ExecutorOptions {
  readonly store: RunStore
  readonly source: RunSource
  readonly artifacts: ArtifactStore
  readonly collect: CollectArtifact
  readonly runners: RunnerProvider
  /** How this process registers in Postgres; `slots` is also the number of concurrent runs. */
  readonly intro: Introduction
  /** Contains the work folders of runs; on a local disk. */
  readonly folder: string
  /** The users that commands run as; default: the user of this process. */
  readonly users?: CommandUsers
  /** Keeps packets of commands from forbidden addresses; missing where this process cannot. */
  readonly enforcement?: Enforcement
  /** Whether threads of loops take slots; not where commands execute on other machines. Default true. */
  readonly countsThreads?: boolean
  /** `HOME` of commands on this machine; default: the folder of the attempt. */
  readonly homes?: Homes | undefined
  /** Variables, secrets and folders that the operator gives to every run. */
  readonly operatorInput?: OperatorInput
  /** `PATH` of commands on this machine. */
  readonly path?: string
  /** Paths that functions and steps may use besides the folders of the run. */
  readonly allowedPaths?: readonly AllowedPath[]
  /** Time between TERM and KILL; default: that of the engine. */
  readonly graceMs?: number
  /** Stop runs before the lease ends when the database cannot be reached; otherwise they continue. */
  readonly stopAfterLease?: boolean
  /** Params without a type are limited to one word. */
  readonly strictParams?: boolean
  /** For runs without their own timeout; default: none. */
  readonly defaultTimeoutMs?: number
  /** Services for functions, besides the database, whose access is bound to the run. */
  readonly services?: Omit<FunctionServices, 'database' | 'run'>
  readonly limits?: Partial<ExecutorLimits>
  readonly times?: Partial<ExecutorTimes>
  /** Versions of the programs on this machine; missing where commands execute elsewhere. */
  readonly toolVersions?: { of(names: readonly string[]): ReadonlyMap<string, string> } | undefined
  readonly log: Logger
  /** `outcome` is missing when the run was lost or handed back. */
  onRunEnded?(ending: RunEnding, seconds: number, outcome?: RunOutcome): void
  /** A run of this process met a target that it may not scan. */
  readonly onRefused?: (place: RunRefusalPlace) => void
}

/** Time for the end of commands before the lease ends, besides the one between TERM and KILL. */
const STOP_MARGIN_MS = 1_000

/** How long after the last renewal of the lease the commands of runs are stopped, with `stopAfterLease`. */
export const stopAfterMs = ({ intro: { leaseMs }, graceMs = 0 }: ExecutorOptions): number =>
  Math.max(leaseMs / 2, leaseMs - graceMs - STOP_MARGIN_MS)

export interface ExecutorStatus {
  /** Postgres knows this process. */
  readonly joined: boolean
  readonly workerId: string | undefined
  readonly slots: number
  readonly busy: number
  /** An operator wants no more claims. */
  readonly paused: boolean
  /** Milliseconds since the database last answered a heartbeat; normally at most a third of the lease. */
  readonly silenceMs: number
}
