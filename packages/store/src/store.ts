import type { JobReport } from './job-report.ts'
import type {
  ApiToken,
  Artifact,
  Asset,
  AssetContent,
  FindingContent,
  FindingState,
  ImportSummary,
  JobStatus,
  Priority,
  Confidence,
  CloudProviderName,
  CreateRuns,
  Role,
  Run,
  RunDetail,
  RunMode,
  RunnerType,
  RunOutcome,
  RunStatus,
  RunStore,
  Step,
  StepResult,
  Severity,
  TriggerType,
  User,
  Vulnerability,
  Worker,
  WorkflowKind,
} from '@scanfarm/contracts'
import type { CloudBudget, CloudStore, InfraDraft } from './cloud/port.ts'
import type { Feed } from './events/feed.ts'
import type { History } from './history/port.ts'
import type { Retention } from './retention.ts'
import type { UnusedRows } from './unused-rows.ts'
import type { ScheduleDraft, Schedules, Triggers } from './triggers/port.ts'
import type { Webhooks } from './webhooks/port.ts'
import type { ArtifactFilter, StepResultFilter, StoredArtifact } from './run-part-lists.ts'
import type { Orgs, Workspaces } from './workspaces/port.ts'

export type * from './cloud/port.ts'
export type * from './events/feed.ts'
export type * from './history/port.ts'
export type { Retention } from './retention.ts'
export type { UnusedRows } from './unused-rows.ts'
export type * from './triggers/port.ts'
export type * from './webhooks/port.ts'
export type { ArtifactFilter, StepResultFilter, StoredArtifact } from './run-part-lists.ts'
export type * from './workspaces/port.ts'

/** What a master asks of Postgres, grouped by subject. The worker's side is `RunStore` of contracts. */
export interface Store extends AsyncDisposable {
  readonly jobs: Jobs
  readonly runs: Runs
  readonly outbox: Outbox
  readonly recovery: Recovery
  readonly workers: Workers
  readonly workflows: Workflows
  readonly events: Events
  readonly vulnerabilities: Vulnerabilities
  readonly assets: Assets
  readonly scans: Scans
  readonly workspaces: Workspaces
  readonly orgs: Orgs
  /** The event log as a stream. */
  readonly feed: Feed
  readonly triggers: Triggers
  readonly schedules: Schedules
  readonly webhooks: Webhooks
  /** Infrastructures of cloud mode and their machines. */
  readonly cloud: CloudStore
  readonly access: Access
  readonly idempotency: Idempotency
  readonly retention: Retention & UnusedRows
  /** What happened before this farm. */
  readonly history: History
  /** For the local slots of a server. */
  readonly runStore: RunStore
  /** Identity of this farm: queue names carry it, so that two farms on one Redis never meet. */
  farmId(): Promise<string>
  /** Key that signs login tokens, made on first use; 32 random bytes. */
  signingKey(): Promise<Uint8Array>
  /** Calls back for each NOTIFY on the wake channel; reconnects by itself. A hint: always poll as well. */
  listen(onWake: () => void): Promise<AsyncDisposable>
  /** Rejects when the database cannot be reached, or its schema is not the one of this program. */
  check(): Promise<void>
  /** The tables with what users work with, and their rows: counted, or estimated where there are many. */
  tables(): Promise<{ name: string; rows: number; estimated: boolean }[]>
  /** Makes the next partitions of steps and event_logs before they are needed; call it now and then. */
  maintain(): Promise<void>
}

/** Common to every run of a request. */
export interface JobDraft {
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  /** JSON text of the resolved workflow and its SHA-256 in hex; stored once per hash. */
  readonly workflow: { readonly hash: string; readonly json: string }
  readonly params: Readonly<Record<string, string>>
  readonly priority: Priority
  readonly runMode: RunMode
  readonly runnerType: RunnerType
  /** True when the caller named the runner, so that it overrides the workflow's. */
  readonly runnerGiven: boolean
  readonly dockerImage: string
  /** Network that the caller asked for; missing: as the workflow says. */
  readonly dockerNetwork?: string
  readonly sshHost: string
  readonly timeoutMinutes: number | null
  /** Runs of the job at once; null: unbounded. */
  readonly concurrency: number | null
  /** Requirement class (`classOf`). */
  readonly requirementClass: string
  readonly triggerType: TriggerType
  readonly triggerName: string
  readonly scheduleId: string
  readonly eventEnvelope: string
}

export interface TargetDraft {
  readonly target: string
  readonly workspace: string
}

/** Too many targets to hold in memory. */
export interface TargetStream {
  readonly count: number
  /** Tells all of them anew each time it is asked, at most 10,000 at once; an error of it leaves nothing behind. */
  chunks(): AsyncIterable<readonly TargetDraft[]>
}

/** Fields of a request that say which machines it wants, as the caller gave them. */
export type CloudFields = Pick<
  CreateRuns,
  | 'cloud_provider'
  | 'cloud_instances'
  | 'cloud_instance_type'
  | 'cloud_region'
  | 'cloud_auto_destroy'
  | 'cloud_reuse_infra'
  | 'cloud_use_spot'
>

/**
 * Where cloud runs go: to new machines, if the budget allows, or to an infrastructure that is there. Refused with
 * `cloud_limit` and the figures; unknown ones with `not_found`; one that takes no more with `wrong_state`.
 */
export type CloudChoice =
  { readonly infra: InfraDraft; readonly budget: CloudBudget } | { readonly reuse: string }

export interface SubmittedInfra {
  readonly infraId: string
  readonly provider: CloudProviderName
  /** Machines asked for. */
  readonly instances: number
}

export interface SubmittedJob {
  readonly jobId: string
  readonly targetCount: number
  /** Of the only run, when there is one. */
  readonly runUuid: string | undefined
  /** Of a cloud job. */
  readonly infra?: SubmittedInfra | undefined
  /** Of the schedule that was made with it. */
  readonly scheduleId?: string | undefined
}

/** The first answer to an `Idempotency-Key`, as it was sent. */
export interface KeptAnswer {
  readonly status: number
  readonly body: string
}

export interface Jobs {
  /**
   * One transaction: job, its runs (`queued`, or `pending` with `start: false`), outbox rows (`ready` for the first
   * `concurrency` of them) and, with `idempotency`, the answer that `answer` makes of the result. Outbox rows of local
   * runs are for `claimLocal`, those of cloud runs for `cloud.bindRuns` and then `claimCloud`; the dispatcher takes
   * neither. Above 100,000 targets the list is stored first and expanded in chunks by `expandOnce`. `cloud`: a cloud job
   * that starts needs it; the infrastructure is made in the same transaction, and `fields` are kept for copies. A key that exists with the same request hash resolves to the kept answer; with another
   * hash it is refused (`idempotency_conflict`). `schedule` is made with the job, which counts as its first firing.
   */
  submit(
    draft: JobDraft,
    targets: readonly TargetDraft[] | TargetStream,
    options?: {
      start?: boolean
      cloud?: CloudChoice & { readonly fields?: CloudFields }
      schedule?: ScheduleDraft
      idempotency?: { key: string; requestHash: string; answer: (job: SubmittedJob) => KeptAnswer }
    },
  ): Promise<{ job: SubmittedJob } | { kept: KeptAnswer }>
  status(jobId: string): Promise<JobStatus | undefined>
  /** The same for jobs of any size, with bounded memory. */
  report(jobId: string): Promise<JobReport | undefined>
  /**
   * Asks for the end of every run of the job: waiting ones are `cancelled` at once (their outbox rows go), running
   * ones get `cancel_requested_at`. Undefined for an unknown job.
   */
  requestCancel(jobId: string): Promise<CancelledJob | undefined>
  /** The same for a job whose cancel its master did not finish; undefined when there is none. */
  finishCancel(): Promise<(CancelledJob & { readonly jobId: string }) | undefined>
  /** Expands at most one chunk (10,000 targets) of one large job; false when there was nothing to do. */
  expandOnce(): Promise<boolean>
}

export interface CancelledJob {
  /** Runs that waited and are cancelled now. */
  readonly cancelled: number
  /** Runs that execute and were asked to end. */
  readonly requested: readonly {
    readonly runId: number
    readonly runUuid: string
    readonly workerId: string
  }[]
}

export interface RunFilter {
  /** `pending` covers queued too. */
  readonly status?: RunStatus
  readonly outcomes?: readonly RunOutcome[]
  readonly workflowName?: string
  readonly target?: string
  readonly workspace?: string
  readonly runMode?: RunMode
  readonly jobId?: string
  /** uuid of the organisation that has its workspace. */
  readonly org?: string
}

export interface PageRequest {
  readonly offset: number
  readonly limit: number
  /** Opaque, from `nextCursor` of the page before; wins over offset. */
  readonly cursor?: string
}

export interface PageOf<T> {
  readonly data: T[]
  readonly total: number
  readonly nextCursor: string | undefined
  /** The page ended because of its bytes, so that it may have fewer rows than its limit though more follow. */
  readonly truncated: boolean
}

/** Number or uuid, as it stood in the path; anything else finds nothing. */
export type RunRef = string

export interface CancelRequest {
  readonly id: number
  readonly runUuid: string
  /** Status after the request: `cancelled` when it was waiting, `running` while its worker has to act. */
  readonly status: RunStatus
  /** Status before it. */
  readonly was: RunStatus
  readonly workerId: string
}

export interface Runs {
  list(filter: RunFilter, page: PageRequest): Promise<PageOf<Run>>
  find(ref: RunRef): Promise<RunDetail | undefined>
  /** Steps of the latest attempt, in order, as far as one page takes them; undefined for an unknown run. */
  steps(ref: RunRef, cursor?: string): Promise<PageOf<Step> | undefined>
  artifacts(ref: RunRef, cursor?: string): Promise<PageOf<Artifact> | undefined>
  artifact(
    ref: RunRef,
    artifactId: string,
  ): Promise<(Artifact & { store_key: string; sha256: string }) | undefined>
  /** Log key of one step in the artifact store, or undefined. */
  stepLog(
    ref: RunRef,
    stepId: string,
  ): Promise<{ storeKey: string; output: string; status: string } | undefined>
  /** Steps of the latest attempts of the newest runs, in the order of each run. */
  stepResults(filter: StepResultFilter, page: PageRequest): Promise<PageOf<StepResult>>
  allArtifacts(filter: ArtifactFilter, page: PageRequest): Promise<PageOf<StoredArtifact>>
  /** The newest artifact of a workspace that has this path below the folder of the workspace. */
  artifactAt(workspace: string, path: string): Promise<StoredArtifact | undefined>
  counts(): Promise<Partial<Record<RunStatus, number>>>
  /** Copy into a new job of one pending run. Undefined for an unknown run. */
  duplicate(ref: RunRef): Promise<{ originalRunUuid: string; runUuid: string; jobId: string } | undefined>
  /**
   * pending → queued. `started: false` when the run is in another status. A cloud run goes to the infrastructure of its
   * job if that takes runs, else to the one that `cloud` names.
   */
  start(ref: RunRef, cloud?: CloudChoice): Promise<{ started: boolean; run: RunDetail } | undefined>
  /** What the caller asked for when this cloud run was submitted, and what it needs; undefined: unknown, or no cloud run. */
  cloudOf(
    ref: RunRef,
  ): Promise<{ readonly fields: CloudFields; readonly requirementClass: string } | undefined>
  requestCancel(ref: RunRef): Promise<CancelRequest | undefined>
  /**
   * Ends it as `cancelled` though its worker did not report, if the cancel was requested that long ago; whether it did.
   * The fence then refuses whatever the worker still writes.
   */
  forceCancel(runId: number, olderThanMs: number): Promise<boolean>
}

export interface OutboxRow {
  readonly runId: number
  readonly epoch: number
  readonly priority: Priority
  readonly requirementClass: string
}

export interface Outbox {
  /**
   * Takes ready rows of the given classes in priority order (then by run id), marks them sent in a short transaction
   * (`for update skip locked`). Rows whose mark is older than `staleMs` are taken again. `room`: most rows to take by
   * priority.
   */
  take(options: {
    classes: readonly string[]
    room: Readonly<Record<Priority, number>>
    limit: number
    staleMs: number
  }): Promise<OutboxRow[]>
  /** They are in the queue. */
  remove(rows: readonly { runId: number; epoch: number }[]): Promise<void>
  /** Classes that have ready rows, with their counts. */
  classes(): Promise<{ requirementClass: string; ready: number; waiting: number }[]>
  /** Classes of which `take` may have rows, sent ones included; cheap at any depth. */
  takeableClasses(): Promise<string[]>
}

export interface Recovery {
  /**
   * Runs of workers whose lease ended: back to `queued` with epoch+1 and an outbox row, `cancelled` where that was
   * asked, `failed` with the names of these workers when there were `maxAttempts` of them, or `quarantineAfter` and no
   * other run that was lost with it had lost as many. Does nothing within one lease of a gap in reaper turns or of
   * a database start, nor when over 30 % of the running runs would expire at once (until a second turn confirms it
   * one lease later). Only one master reaps at a time (transaction-level advisory lock).
   */
  reapOnce(options: {
    maxAttempts: number
    quarantineAfter: number
    leaseMs: number
    limit: number
  }): Promise<{
    requeued: number
    failed: number
    cancelled: number
    heldBack: '' | 'gap' | 'mass'
  }>
  /** Queued distributed runs without an outbox row, by id from `after`: the caller asks the queue which it has. */
  queuedOutside(options: {
    after: number
    limit: number
    olderThanMs: number
  }): Promise<{ runId: number; epoch: number; priority: Priority; requirementClass: string }[]>
  /** Puts them into the outbox again (same epoch), if they are still queued and not there. */
  enqueueAgain(rows: readonly { runId: number; epoch: number }[]): Promise<number>
  /** Makes `ready` agree with free slots for jobs with a concurrency; returns repairs made. */
  recountSlots(limit: number): Promise<number>
  /** Cancel requests older than `olderThanMs` on runs still running are forced. */
  forceStaleCancels(olderThanMs: number): Promise<number>
}

export interface Workers {
  list(cursor?: string): Promise<PageOf<Worker>>
  find(id: string): Promise<Worker | undefined>
  /** Capabilities of each live worker (lease not over), kind `worker`. */
  liveCapabilities(): Promise<string[][]>
  /** Whether a live server takes local runs. */
  hasLocalSlots(): Promise<boolean>
  /** Rows of workers that are gone for longer than this. */
  prune(olderThanMs: number): Promise<number>
}

/** Workflow files that came in over the API; any master can serve them. */
export interface Workflows {
  put(file: { name: string; kind: WorkflowKind; yaml: string; hash: string; by: string }): Promise<void>
  /** Changes whenever any uploaded workflow changes. */
  version(): Promise<number>
  list(): Promise<{ name: string; kind: WorkflowKind; yaml: string; updatedAt: string }[]>
}

export interface EventFilter {
  /** A topic, or a shell glob over topics. */
  readonly topic?: string
  readonly name?: string
  readonly source?: string
  readonly workspace?: string
  readonly runId?: string
  readonly workflowName?: string
  readonly processed?: boolean
}

export interface EventLogEntry {
  id: number
  topic: string
  event_id: string
  name: string
  source: string
  data_type: string
  data: string
  workspace: string
  run_id: string
  workflow_name: string
  processed: boolean
  processed_at: string | null
  error: string
  created_at: string
}

export interface Events {
  list(filter: EventFilter, page: PageRequest): Promise<PageOf<EventLogEntry>>
  /** Removes the oldest entries that are older than `days`, a bounded number of them; returns how many. */
  prune(days: number): Promise<number>
  /** Drops ranges of which every entry is older than `days`, which costs far less; returns how many. */
  dropRanges(days: number): Promise<number>
}

export interface Access {
  /** `hash`: SHA-256 of the secret, hex. */
  addToken(token: { name: string; role: Role; hash: string; expiresAt: Date | null }): Promise<ApiToken>
  tokens(page: PageRequest): Promise<PageOf<ApiToken>>
  removeToken(id: number): Promise<boolean>
  /** A token that is valid now; notes its use at most once a minute. */
  tokenByHash(hash: string): Promise<{ id: number; name: string; role: Role } | undefined>
  anyToken(): Promise<boolean>
  /** Makes the very first token and nobody else's: undefined when there was one already. */
  addFirstToken(token: { name: string; role: Role; hash: string }): Promise<ApiToken | undefined>
  addUser(user: { username: string; role: Role; passwordHash: string }): Promise<User | undefined>
  users(page: PageRequest): Promise<PageOf<User>>
  removeUser(id: number): Promise<boolean>
  setUser(id: number, change: { role?: Role; passwordHash?: string }): Promise<User | undefined>
  userByName(username: string): Promise<(User & { passwordHash: string }) | undefined>
  userById(id: number): Promise<User | undefined>
  /** Whether a login may be tried now; one that may is counted as failed until it has succeeded. */
  loginAttempt(username: string, address: string): Promise<LoginAttempt>
  /** Takes the count back and remembers the address of the user. */
  loginSucceeded(username: string, address: string): Promise<void>
}

export interface LoginAttempt {
  /** The user has logged in from this address before. */
  readonly known: boolean
  /** Above 0: it must not be tried before that time is over, and was not counted. */
  readonly waitMs: number
  /** There are many attempts for this name, or for all names, from addresses that are not known. */
  readonly slow: boolean
}

export interface Idempotency {
  find(key: string, requestHash: string): Promise<KeptAnswer | undefined>
  prune(olderThanMs: number): Promise<number>
}

export interface VulnerabilityFilter {
  /** One of them. */
  readonly workspaces?: readonly string[]
  readonly severities?: readonly Severity[]
  readonly confidences?: readonly Confidence[]
  readonly assetTypes?: readonly string[]
  /** Part of it, upper or lower case. */
  readonly assetValue?: string
  readonly state?: FindingState
  readonly source?: string
  /** The run that saw it last. */
  readonly runUuid?: string
  readonly org?: string
}

export interface Vulnerabilities {
  list(filter: VulnerabilityFilter, page: PageRequest): Promise<PageOf<Vulnerability>>
  find(id: number): Promise<Vulnerability | undefined>
  /** For reading all: those with ids below `below` (all, when undefined), newest first, at most `limit` and one page of bytes. */
  newestBelow(filter: VulnerabilityFilter, below: number | undefined, limit: number): Promise<Vulnerability[]>
  /** Always a new record, whatever there is already; `vuln.found` in the same transaction. */
  create(workspace: string, content: FindingContent): Promise<Vulnerability>
  /** False: there is none. */
  remove(id: number): Promise<boolean>
  /**
   * Saves records under their identity, in one transaction with their events; safe beside other imports. A record
   * without what or where is always new. `source`: the format, or another word for where they come from.
   */
  import(workspace: string, source: string, items: readonly FindingContent[]): Promise<ImportSummary>
  summary(
    filter: Pick<VulnerabilityFilter, 'workspaces' | 'state'>,
  ): Promise<Readonly<Record<Severity, number>>>
}

export interface AssetFilter {
  readonly workspaces?: readonly string[]
  readonly assetTypes?: readonly string[]
  readonly statusCodes?: readonly number[]
  readonly technology?: string
  readonly port?: string
  /** One of them. */
  readonly technologies?: readonly string[]
  readonly remarks?: readonly string[]
  /** Parts, upper or lower case: one of them. */
  readonly contentTypes?: readonly string[]
  /** Part of value, URL or address, upper or lower case. */
  readonly location?: string
  readonly tls?: string
  /** Bytes of the body, as the tool wrote; 0 where it did not. */
  readonly minContentLength?: number
  readonly maxContentLength?: number
  readonly sources?: readonly string[]
  readonly state?: FindingState
  /** Part of value, URL or title, upper or lower case. */
  readonly search?: string
  readonly runUuid?: string
  readonly org?: string
}

/** Different words that occur, sorted. */
export interface AssetStats {
  technologies: string[]
  sources: string[]
  remarks: string[]
  asset_types: string[]
}

export interface Assets {
  list(filter: AssetFilter, page: PageRequest): Promise<PageOf<Asset>>
  find(id: number): Promise<Asset | undefined>
  /** As `Vulnerabilities.import`; the identity is (workspace, asset_value, url). */
  import(workspace: string, source: string, items: readonly AssetContent[]): Promise<ImportSummary>
  stats(workspaces: readonly string[] | undefined): Promise<AssetStats>
}

/** A record as it was before and is after; null: it was or is not there. */
export interface RecordChange {
  id: number
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

/** The lists may be cut; the totals count all. */
export interface RecordChanges {
  new: RecordChange[]
  gone: RecordChange[]
  changed: RecordChange[]
  total_new: number
  total_gone: number
  total_changed: number
}

export interface RunDiff {
  vulnerabilities: RecordChanges
  assets: RecordChanges
}

/** What runs saw, and what follows from it. */
export interface Scans {
  /**
   * Judges the scans of up to `limit` ended runs: records that a complete scan no longer saw, and that no other scope
   * has seen since, become `gone`. One master at a time; resolves to how many runs were judged. What single runs saw
   * is kept for the latest `history` runs of a scope.
   */
  judge(options: { limit: number; history: number }): Promise<number>
  /** What run `b` saw against what run `a` saw; at most `limit` records of each kind and change. */
  compare(a: number, b: number, limit: number): Promise<RunDiff>
  /** What changed in a workspace after `from` up to `to`, as its records stand now. */
  changes(
    kind: 'vulnerability' | 'asset',
    workspace: string,
    options: { from: Date; to: Date; limit: number },
  ): Promise<RecordChanges>
}
