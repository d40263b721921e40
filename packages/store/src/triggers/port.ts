import type { CreateRuns, Priority, RunMode, WorkflowKind } from '@scanfarm/contracts'
import type { JobDraft, PageOf, PageRequest, TargetDraft } from '../store.ts'

export type Overlap = 'allow' | 'skip' | 'queue' | 'cancel-previous'
export type MissedPolicy = 'skip' | 'once' | 'all'

/** An entry of the event log that is still to be written. */
export interface EventDraft {
  readonly topic: string
  readonly eventId: string
  readonly name: string
  readonly source: string
  readonly dataType: string
  /** JSON text. */
  readonly data: string
  readonly workspace: string
  /** run_uuid, or `""`. */
  readonly runId: string
  readonly workflowName: string
}

/** An entry that a master has taken for a while. */
export interface ClaimedEvent extends EventDraft {
  readonly id: number
  readonly createdAt: string
}

/** The job that a trigger makes of one event, fire time or file. */
export interface Firing {
  /** Identity of the trigger, the same on every master. */
  readonly triggerKey: string
  readonly overlap: Overlap
  /** The same key within the window fires once. */
  readonly dedupe: { readonly key: string; readonly windowMs: number } | undefined
  readonly draft: JobDraft
  readonly targets: readonly TargetDraft[]
}

export interface Fired {
  readonly triggerKey: string
  /**
   * `queued`: its runs wait until those of the last firing have ended; `deduped`, `skipped` and `repeated` made
   * nothing; `failed`: the database refused it, see `error`.
   */
  readonly outcome: 'fired' | 'queued' | 'deduped' | 'skipped' | 'repeated' | 'failed'
  readonly error: string
  /** Of the job that was made, or `""`. */
  readonly jobId: string
  /** Running runs that were asked to end; whoever calls tells their owners. */
  readonly cancelled: readonly number[]
}

/** What follows from an event: runs, and what to say of triggers that failed. */
export interface Consequence {
  readonly firings: readonly Firing[]
  readonly error: string
}

/** A firing of the scheduler with the event that tells of it; `firing` undefined: it could not be made, see `error`. */
export interface ScheduledFire {
  readonly fireKey: string
  readonly event: EventDraft
  readonly firing: Firing | undefined
  readonly error: string
}

/**
 * Firing, exactly once with any number of masters: each method that fires writes a unique row, the jobs and the event
 * log in one transaction.
 */
export interface Triggers {
  /** Unprocessed events, oldest first, that no other master has claimed within its lease. */
  claimEvents(options: { limit: number; leaseMs: number }): Promise<ClaimedEvent[]>
  /** Undefined: the event was processed by somebody else, and nothing happened. */
  processEvent(id: number, consequence: Consequence): Promise<Fired[] | undefined>
  /** A new event together with its consequence; it is born processed. */
  emit(event: EventDraft, consequence: Consequence): Promise<Fired[]>
  /** A new event that is left to the receiver where a trigger wants it. */
  record(event: EventDraft): Promise<void>
  /** Topics that triggers wait for; shell globs are allowed. To be said again and again. */
  wantTopics(topics: readonly string[]): Promise<void>
  /** Up to when the firings of a cron trigger are decided; `now` for one that is new or whose `specHash` changed. */
  startClock(key: string, specHash: string, now: Date): Promise<Date>
  /** The same of triggers that have begun, by their keys. */
  clocks(keys: readonly string[]): Promise<ReadonlyMap<string, Date>>
  /** Forgets a clock: the trigger begins anew when it is enabled again. */
  stopClocks(keys: readonly string[]): Promise<void>
  /** Decides the firings after `from` up to `until`. Undefined: somebody else has. */
  fireCron(options: {
    key: string
    specHash: string
    from: Date
    until: Date
    fires: readonly ScheduledFire[]
  }): Promise<Fired[] | undefined>
  /** Fires at once, whatever the clock says. */
  fireNow(fire: ScheduledFire): Promise<Fired[]>
  /** A watch that is new or was changed takes `files` for known and fires for none of them. */
  startWatch(key: string, specHash: string, files: ReadonlyMap<string, string>): Promise<void>
  /** The state of each file that the watch has dealt with, by path. */
  watchedFiles(key: string): Promise<Map<string, string>>
  /** Undefined: somebody else has seen this state of the file. */
  fireWatch(
    key: string,
    file: { path: string; mark: string },
    fire: ScheduledFire,
  ): Promise<Fired[] | undefined>
  /** Files that are gone. */
  forgetFiles(key: string, paths: readonly string[]): Promise<void>
  /** Starts queued firings whose predecessors have ended; returns how many. */
  startWaiting(limit: number): Promise<number>
  prune(options: { days: number; topicsMs: number }): Promise<void>
  /** When the newest event was written, ISO 8601. */
  lastEventAt(): Promise<string | null>
}

/** A trigger that came in over the API. */
export interface ScheduleDraft {
  readonly name: string
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  readonly target: string
  readonly workspace: string
  readonly params: Readonly<Record<string, string>>
  readonly triggerType: 'cron' | 'event' | 'watch'
  readonly schedule: string
  readonly eventTopic: string
  readonly watchPath: string
  readonly spec: ScheduleSpec
  readonly enabled: boolean
}

/** What only some schedules have; missing: the default. */
export interface ScheduleSpec {
  readonly timezone?: string
  readonly missed?: MissedPolicy
  readonly missedWindowMs?: number
  readonly overlap?: Overlap
  readonly filters?: readonly string[]
  readonly dedupeKey?: string
  readonly dedupeWindowMs?: number
  readonly settleMs?: number
  readonly input?: Readonly<Record<string, string>>
  readonly runMode?: Exclude<RunMode, 'cloud'>
  readonly priority?: Priority
  /** Several, in place of the target. */
  readonly targets?: readonly string[]
  readonly run?: ScheduledRun
}

/** What its runs are like, as in `POST /runs`. */
export type ScheduledRun = Pick<
  CreateRuns,
  'runner_type' | 'docker_image' | 'docker_network' | 'ssh_host' | 'timeout' | 'concurrency'
>

export interface StoredSchedule extends ScheduleDraft {
  readonly id: string
  readonly lastRun: string | null
  readonly runCount: number
  readonly createdAt: string
  readonly updatedAt: string
}

export interface Schedules {
  /** Newest first. */
  list(page: PageRequest): Promise<PageOf<StoredSchedule>>
  /** All of them; there are at most `MAX_SCHEDULES`. */
  all(): Promise<StoredSchedule[]>
  find(id: string): Promise<StoredSchedule | undefined>
  /** Undefined: there are too many. */
  add(schedule: ScheduleDraft): Promise<StoredSchedule | undefined>
  /** Undefined for an unknown id. */
  replace(id: string, schedule: ScheduleDraft): Promise<StoredSchedule | undefined>
  remove(id: string): Promise<boolean>
  /** Changes with every change of any schedule. */
  version(): Promise<string>
}
