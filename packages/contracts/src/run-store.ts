import type { AskedRunner } from './choose-runner.ts'
import type { AssetContent, FindingContent, ImportSummary } from './findings.ts'
import type { ArtifactType, ContentType, Priority, RunMode, WorkflowKind } from './words.ts'
import type { RunTally } from './run-outcome.ts'
import type { RunStatus, StepStatus } from './run-status.ts'

/** A run as the fence knows it: writes of any other attempt are refused. */
export interface RunKey {
  readonly runId: number
  readonly attempt: number
}

/** One try at a run, as containers and folders are named after it. */
export interface AttemptOfRun {
  readonly runUuid: string
  readonly attempt: number
}

/** What a queue message carries, and all it carries. */
export interface Ticket {
  readonly runId: number
  readonly epoch: number
}

/** Everything that an executor needs of a run it has won. */
export interface ClaimedRun extends RunKey {
  readonly epoch: number
  readonly runUuid: string
  readonly jobId: string
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  /** Content hash under which the pinned workflow is stored. */
  readonly workflowHash: string
  readonly target: string
  readonly params: Readonly<Record<string, string>>
  readonly workspace: string
  readonly priority: Priority
  readonly runMode: RunMode
  readonly timeoutMs: number | null
  /** Runner as asked for by the caller; null: as the workflow says. */
  readonly runner: AskedRunner
  readonly cancelRequested: boolean
  /** True when the run was handed in by a trigger and carries an event (JSON text), else `""`. */
  readonly eventEnvelope: string
}

export interface WorkerIntro {
  /** One per process incarnation, never reused. */
  readonly workerId: string
  readonly name: string
  readonly hostname: string
  readonly pid: number
  readonly version: string
  /** `worker`, or `server` for the local slots of a master. */
  readonly kind: 'worker' | 'server'
  readonly slots: number
  /** Sorted words such as `docker`, `tool:nmap`, `label:region=eu`. */
  readonly capabilities: readonly string[]
  readonly leaseMs: number
}

export interface HeartbeatReply {
  /**
   * False: the reaper has declared this worker lost, or it has left; everything it runs is no longer its own. A lease
   * that ran out unnoticed (the database was away) is renewed.
   */
  readonly known: boolean
  /** What Postgres believes that this worker runs. */
  readonly runs: readonly (RunKey & { cancelRequested: boolean })[]
}

/** One fact about a step, in the order of happening; rows are upserted by (run, attempt, seq). */
export interface StepRecord {
  readonly seq: number
  readonly id: string
  readonly name: string
  readonly type: string
  readonly module: string
  readonly status: StepStatus
  readonly command: string
  /** Tail of the output, valid UTF-8 without NUL, at most 16 KiB. */
  readonly output: string
  readonly errorMessage: string
  readonly exports: Readonly<Record<string, string>>
  readonly exitCode: number | null
  readonly durationMs: number
  /** Key of the whole log in the artifact store, or `""`. */
  readonly logFile: string
  readonly startedAt: string | null
  readonly completedAt: string | null
}

export interface ArtifactRecord {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly type: ArtifactType
  readonly contentType: ContentType
  readonly sizeBytes: number
  readonly lineCount: number
  readonly description: string
  /** Key in the artifact store. */
  readonly storeKey: string
  readonly sha256: string
}

export interface EventRecord {
  /** Deterministic within (run, attempt), so that a batch written twice is one event. */
  readonly eventId: string
  readonly topic: string
  readonly name: string
  readonly source: string
  readonly dataType: string
  readonly data: string
}

/** All that became known of one run since the last batch. Fields left out did not change. */
export interface RunUpdate extends RunKey {
  readonly totalSteps?: number
  readonly completedSteps?: number
  readonly currentPid?: number
  readonly tally?: RunTally
  readonly facts?: Readonly<Record<string, string>>
  readonly steps?: readonly StepRecord[]
  readonly artifacts?: readonly ArtifactRecord[]
  readonly events?: readonly EventRecord[]
}

export interface RunEnd extends RunKey {
  readonly status: Extract<RunStatus, 'completed' | 'failed' | 'cancelled'>
  readonly errorMessage: string
  /** Pids that a cancel or timeout killed. */
  readonly killedPids: readonly number[]
}

/** What one step of a run found, for a workspace. */
export interface FoundRecords {
  /** Name of the step, with its module in a flow: a later run of it tells what is gone. */
  readonly step: string
  readonly workspace: string
  /** Where the records come from: a tool's name, or `workflow`. */
  readonly source: string
  readonly records:
    | { readonly kind: 'vulnerability'; readonly items: readonly FindingContent[] }
    | { readonly kind: 'asset'; readonly items: readonly AssetContent[] }
  /** Records that could not be used; with any, the step proves nothing to be gone. */
  readonly errors: number
  /**
   * Hosts that the step reached, also as URLs or host:port: only of these, and of hosts on which it saw something, can
   * records be gone. Missing: all that it looks at was reached.
   */
  readonly reached?: readonly string[] | undefined
  /** Params that say what is looked at: later runs with the same ones are compared. Missing: all params of the job. */
  readonly scope?: Readonly<Record<string, string>> | undefined
}

/** Which records a run wants to see. */
export interface RecordQuery {
  readonly kind: 'vulnerability' | 'asset'
  readonly workspace: string
  /** Assets: asset_type, status_code; vulnerabilities: severity (a comma list), asset_value (a part); both: first_seen_run. */
  readonly filter: Readonly<Record<string, string>>
  readonly limit: number
}

/** Columns of a row, as they stand in the API. */
export type RecordRow = Readonly<Record<string, unknown>>

/** The farm gave this worker up, or never knew it: it has to join anew, under a new id. */
export class UnknownWorkerError extends Error {
  override readonly name = 'UnknownWorkerError'
}

/**
 * The worker's side of the database. Every write carries (run, attempt); keys that come back were not written: the
 * caller no longer owns them and must stop, kill and write nothing more. All calls may be repeated after a lost answer.
 */
export interface RunStore {
  join(worker: WorkerIntro): Promise<void>
  /** What a worker that has joined can do from now on. */
  offer(workerId: string, capabilities: readonly string[]): Promise<void>
  /** Renews the lease. `busy`: slots in use; `draining`: takes no more runs. */
  heartbeat(workerId: string, busy: number, draining?: boolean): Promise<HeartbeatReply>
  /**
   * Runs among the tickets that now belong to this worker, in no order; missing ones belong to somebody else. Rejects
   * with `UnknownWorkerError` where the farm does not know the worker: then nothing is decided about the tickets.
   */
  claim(workerId: string, tickets: readonly Ticket[]): Promise<ClaimedRun[]>
  /** Up to `limit` queued local runs in priority order. */
  claimLocal(workerId: string, limit: number): Promise<ClaimedRun[]>
  /**
   * Up to `limit` queued cloud runs whose machines have room, in priority order. Only for servers: the login of a worker
   * may not call it.
   */
  claimCloud(workerId: string, limit: number): Promise<ClaimedRun[]>
  /** JSON text of a pinned workflow. */
  workflow(hash: string): Promise<string>
  record(updates: readonly RunUpdate[]): Promise<RunKey[]>
  /** Writes the last update and ends the runs. A cancel requested meanwhile wins over `completed` and `failed`. */
  finish(ends: readonly (RunEnd & { last: RunUpdate })[]): Promise<RunKey[]>
  /** Saves what a step found, in one transaction with its events. Undefined: the run is no longer the caller's. */
  importRecords(run: RunKey, found: FoundRecords): Promise<ImportSummary | undefined>
  /** Records of a workspace, oldest first. Undefined: the run is no longer the caller's. */
  readRecords(run: RunKey, query: RecordQuery): Promise<RecordRow[] | undefined>
  /** Runs of a workspace, or one by its uuid, newest first. Undefined: the run is no longer the caller's. */
  readRuns(
    run: RunKey,
    query: { readonly workspace: string; readonly runUuid: string; readonly limit: number },
  ): Promise<RecordRow[] | undefined>
  /**
   * Adds to a counter of a workspace, or sets it to 0; its value, or undefined when the run is no longer the caller's.
   * The one call that is not repeated by itself: after a lost answer nobody knows whether it was added.
   */
  addToCounter(
    run: RunKey,
    counter: { readonly workspace: string; readonly name: string; readonly add: number | 'reset' },
  ): Promise<number | undefined>
  /** Back to `queued` without counting a crash: a drain, or a run this process does not know. */
  handBack(runs: readonly RunKey[]): Promise<void>
  /** Those of the runs that somebody executes now, with the attempt that is. Uuids in lower case. */
  liveAttempts(runUuids: readonly string[]): Promise<AttemptOfRun[]>
  /**
   * Workspaces whose folders on this machine may be removed: the retention of runs has removed their last run; or the
   * folder is old, and they have no run that is not over or that ended in the last `days`.
   */
  removableWorkspaces(
    folders: readonly { readonly workspace: string; readonly isOld: boolean }[],
    days: number,
  ): Promise<string[]>
  /**
   * Keys of the artifact store that no row of their run names, and none will, because their attempt is not under way.
   * Those of runs that the farm does not know are not among them.
   */
  strayKeys(keys: readonly (AttemptOfRun & { readonly key: string })[]): Promise<string[]>
  /** The worker's row goes; whatever it still held is handed back. */
  leave(workerId: string): Promise<void>
}
