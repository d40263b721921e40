import type { RunnerChoice } from './choose-runner.ts'
import type { FindingContent, ImportSummary } from '../findings/findings.ts'
import type { Priority, RunMode, Wanted, WorkflowKind } from '../enums.ts'
import type { LoopBatch, LoopInBatches } from './loop-batch.ts'
import type { ReportFacts } from '../findings/report.ts'
import type { WorkerTool } from '../workers.ts'
import type { Resume, ResumePoint } from './resume.ts'
import type { LimitKind, LimitShare, LimitSpan } from '../scope/limits.ts'
import type { NeverScanRule, ScopeRules } from '../scope/schemas.ts'
import type { RunKey, RunUpdate, RunEnd, FoundRecords, RecordQuery, RecordRow } from './run-records.ts'

/** An attempt of a run; containers and folders are named after it. */
export interface AttemptOfRun {
  readonly runUuid: string
  readonly attempt: number
}

/** The content of a queue message. */
export interface Ticket {
  readonly runId: number
  readonly epoch: number
}

/** A job of which messages of one priority may be in the queue. */
export interface WaitingJob {
  readonly jobNo: number
  readonly owner: string
  readonly priority: Priority
  readonly requirementClass: string
}

/** A claimed run with all that a worker needs to execute it. */
export interface ClaimedRun extends RunKey {
  readonly epoch: number
  readonly runUuid: string
  readonly jobId: string
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  /** Content hash of the pinned workflow. */
  readonly workflowHash: string
  readonly target: string
  readonly params: Readonly<Record<string, string>>
  readonly workspace: string
  readonly priority: Priority
  readonly runMode: RunMode
  readonly timeoutMs: number | null
  /** The caller's choice of runner; null: as the workflow declares. */
  readonly runner: RunnerChoice
  readonly cancelRequested: boolean
  /** JSON text of the event if a trigger created the run, else `""`. */
  readonly eventEnvelope: string
  /** What an earlier attempt has stored. */
  readonly resume?: ResumePoint | null
  /** As the job says; null: as the workflow says. */
  readonly resumes?: Resume | null
  /** The items of a loop of another run that it executes, and where the state of the loop is in the artifact store. */
  readonly batch?: (Pick<LoopBatch, 'first' | 'last'> & { readonly state: string }) | null
  /** Grows with each change of scopes and the never-scan list; 0: there are none. */
  readonly scopesVersion: number
  /** The scopes that apply to the run. */
  readonly scopes: readonly number[]
}

export interface WorkerIntro {
  /** Identifies one process; never reused. */
  readonly workerId: string
  readonly name: string
  readonly hostname: string
  readonly pid: number
  readonly version: string
  /** `worker`, or `server` for the local slots of a server. */
  readonly kind: 'worker' | 'server'
  readonly slots: number
  /** Sorted words, for example `docker`, `tool:nmap`, `label:region=eu`. */
  readonly capabilities: readonly string[]
  readonly leaseMs: number
  /** Why its kernel does not keep packets of commands within scopes; '': it does. */
  readonly enforcementGap?: string | undefined
  /** What an operator wanted of this process under its previous id. */
  readonly wanted?: Wanted
  /** With `wanted: stopped`: how much longer it waits for its runs. */
  readonly drainMs?: number | undefined
}

export interface HeartbeatReply {
  /**
   * False if the reaper has declared this worker lost, or it has left: it no longer owns its runs. A lease that expired
   * unnoticed (the database was unreachable) is renewed.
   */
  readonly known: boolean
  /** Missing if the worker is unknown. */
  readonly wanted?: Wanted
  /** How much longer a stopped worker waits for its runs before its program ends. */
  readonly drainMs?: number
  /** As in `ClaimedRun`. */
  readonly scopesVersion?: number
  /** The runs that this worker executes according to Postgres. */
  readonly runs: readonly (RunKey & {
    readonly cancelRequested: boolean
    /** Somebody reads its logs while it runs. */
    readonly followed: boolean
  })[]
}

/** The farm has declared this worker lost, or does not know it: the worker must join again with a new id. */
export class UnknownWorkerError extends Error {
  override readonly name = 'UnknownWorkerError'
}

/**
 * The database as a worker sees it. Every write carries (run, attempt). Keys in a result were not written: the caller
 * no longer owns these runs and must stop and kill them and write nothing more. All calls may be repeated after a lost
 * response.
 */
export interface RunStore {
  join(worker: WorkerIntro): Promise<void>
  /** Updates the capabilities of a worker that has joined. */
  offer(workerId: string, capabilities: readonly string[]): Promise<void>
  /** Replaces the programs that a worker reports. */
  reportTools(workerId: string, tools: readonly WorkerTool[]): Promise<void>
  /** Renews the lease. `busy`: slots in use; `draining`: the worker accepts no more runs. */
  heartbeat(workerId: string, busy: number, draining?: boolean): Promise<HeartbeatReply>
  /**
   * Claims the runs of the tickets for this worker, in any order; missing runs belong to another worker. Rejects with
   * `UnknownWorkerError` if the farm does not know the worker: the tickets are then unchanged.
   */
  claim(workerId: string, tickets: readonly Ticket[]): Promise<ClaimedRun[]>
  /** Claims up to `limit` queued local runs in priority order. */
  claimLocal(workerId: string, limit: number): Promise<ClaimedRun[]>
  /**
   * Claims up to `limit` queued cloud runs whose machines have free slots, in priority order. Only for servers: the
   * database role of workers has no permission to call it.
   */
  claimCloud(workerId: string, limit: number): Promise<ClaimedRun[]>
  /** What a run may scan, and which limits it has. Rejects if the caller no longer owns the run. */
  boundary(run: RunKey): Promise<{
    scopes: readonly ScopeRules[]
    neverScan: readonly NeverScanRule[]
    limited: readonly LimitKind[]
  }>
  /**
   * Takes the shares of a run of the limits on these hosts. Rejects if the caller no longer owns the run. With a `reason`
   * nothing is left: the caller hands the run back until there is a share.
   */
  takeLimits(run: RunKey, spans: readonly LimitSpan[]): Promise<LimitShare>
  /**
   * The batches of a loop, in order; made at the first call for this state. Batches of other states are cancelled, and
   * all with the state `''`. Rejects if the caller no longer owns the run.
   */
  spread(run: RunKey, loop: LoopInBatches): Promise<readonly LoopBatch[]>
  /** JSON text of a pinned workflow. */
  workflow(hash: string): Promise<string>
  record(updates: readonly RunUpdate[]): Promise<RunKey[]>
  /** Writes the last update and ends the runs. A cancel requested meanwhile overrides `completed` and `failed`. */
  finish(ends: readonly (RunEnd & { last: RunUpdate })[]): Promise<RunKey[]>
  /** Saves the records of a step, in one transaction with its events. Undefined: the caller no longer owns the run. */
  importRecords(run: RunKey, found: FoundRecords): Promise<ImportSummary | undefined>
  /** The folder that the files of known findings are relative to, by findings at absolute paths. Undefined: none is known. */
  knownFolder(
    run: RunKey,
    workspace: string,
    findings: readonly FindingContent[],
  ): Promise<string | undefined>
  /** Records of a workspace, oldest first. Undefined: the caller no longer owns the run. */
  readRecords(run: RunKey, query: RecordQuery): Promise<RecordRow[] | undefined>
  /** Runs of a workspace, or one by its uuid, newest first. Undefined: the caller no longer owns the run. */
  readRuns(
    run: RunKey,
    query: { readonly workspace: string; readonly runUuid: string; readonly limit: number },
  ): Promise<RecordRow[] | undefined>
  /** What a report says about the run's workspace and job. Undefined: the caller no longer owns the run. */
  readReport(run: RunKey): Promise<ReportFacts | undefined>
  /**
   * Adds to a counter of a workspace, or sets it to 0. Returns its value, or undefined if the caller no longer owns the
   * run. The only call that is not repeated automatically: after a lost response it is unknown whether the value was
   * added.
   */
  addToCounter(
    run: RunKey,
    counter: { readonly workspace: string; readonly name: string; readonly add: number | 'reset' },
  ): Promise<number | undefined>
  /**
   * Returns runs to `queued` without counting a crash. They are offered again at once, at a time, or when their limits
   * have shares left.
   */
  handBack(runs: readonly RunKey[], until?: Date | 'share'): Promise<void>
  /** The given runs that are being executed, with their current attempt. Uuids are in lower case. */
  liveAttempts(runUuids: readonly string[]): Promise<AttemptOfRun[]>
  /**
   * Workspaces whose folders on this machine may be removed: retention has removed their last run, or the folder is old
   * and the workspace has no run that is active or ended within the last `days`.
   */
  removableWorkspaces(
    folders: readonly { readonly workspace: string; readonly isOld: boolean }[],
    days: number,
  ): Promise<string[]>
  /**
   * The given keys that no row of their run refers to, or will refer to, because their attempt is over. Keys of unknown
   * runs are not returned.
   */
  strayKeys(keys: readonly (AttemptOfRun & { readonly key: string })[]): Promise<string[]>
  /** Deletes the worker and hands back its remaining runs. */
  leave(workerId: string): Promise<void>
}
