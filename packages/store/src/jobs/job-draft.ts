import type {
  CloudFields,
  Priority,
  RefusedTarget,
  Resume,
  RunMode,
  RunnerType,
  TriggerType,
  WorkflowKind,
} from '@scanfarm/contracts'
import type { CloudChoice, SubmittedInfra } from '../cloud/requests.ts'
import type { ScheduleDraft } from '../triggers/schedules.ts'

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
  /** Whose share of the workers its runs use: "token:NAME" or "user:NAME"; missing: that of triggers. */
  readonly submittedBy?: string
  /** Of the request; missing: that of the workspace applies alone. */
  readonly scopeNo?: number | undefined
  readonly refused?: Refused | undefined
  /** Of mode delta; missing: all targets run. */
  readonly delta?: DeltaDraft | undefined
  /** What another attempt takes over; missing: as the workflow says. */
  readonly resume?: Resume | undefined
}

/** What a job of mode delta is and does not run. */
export interface DeltaDraft {
  readonly fields: {
    readonly max_age: string
    readonly full_every: number | null
    /** How many jobs of mode delta the same schedule, or requests for the same workflow, had before. */
    readonly turn: number
    /** It runs all targets. */
    readonly full: boolean
  }
  /** Without passwords. */
  readonly leftOut: readonly RefusedTarget[]
}

/** The targets of a request that no run gets. */
export interface Refused {
  readonly count: number
  /** The first of them, without passwords. */
  readonly listed: readonly RefusedTarget[]
  readonly place: 'submit' | 'trigger'
}

export interface TargetDraft {
  readonly target: string
  readonly workspace: string
}

/** Targets that are too many to be held in memory. */
export interface TargetStream {
  readonly count: number
  /** Each call starts from the first target. A chunk has at most 10,000. If it throws, nothing is stored. */
  chunks(): AsyncIterable<readonly TargetDraft[]>
}

export interface SubmittedJob {
  readonly jobId: string
  readonly targetCount: number
  /** Of the run, if the job has a single one. */
  readonly runUuid: string | undefined
  /** Of a cloud job. */
  readonly infra?: SubmittedInfra | undefined
  /** Of the schedule that was created with it. */
  readonly scheduleId?: string | undefined
}

/** The first response to an `Idempotency-Key`. */
export interface KeptAnswer {
  readonly status: number
  readonly body: string
}

export interface SubmitOptions {
  readonly start?: boolean
  /** With more targets, the targets are stored, and `expandOnce` creates their runs; 100,000 if missing. */
  readonly runsAtOnce?: number
  /** Most runs that the caller will add to the queue itself, right after the submit. */
  readonly send?: number
  readonly cloud?: CloudChoice & { readonly fields?: CloudFields }
  readonly schedule?: ScheduleDraft
  readonly idempotency?: {
    readonly key: string
    readonly requestHash: string
    answer(job: SubmittedJob): KeptAnswer
  }
}
