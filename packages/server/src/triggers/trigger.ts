import type {
  FieldError,
  Missed,
  Overlap,
  Priority,
  RunMode,
  ScheduledRun,
  WorkflowKind,
} from '@scanfarm/contracts'

/** A valid trigger of a workflow file or a schedule. */
export interface ReadyTrigger {
  /** Identity, equal on every master: `flow/NAME#TRIGGER` or the id of the schedule. */
  readonly key: string
  readonly name: string
  readonly type: 'cron' | 'event' | 'watch'
  readonly enabled: boolean
  readonly workflow: { readonly name: string; readonly kind: WorkflowKind }
  /** Id of the schedule, or `""`. */
  readonly scheduleId: string
  /** Inputs of the run by name, as expressions over the event; `target` is one of them. */
  readonly input: Readonly<Record<string, string>>
  /** Constant inputs of a schedule. */
  readonly params: Readonly<Record<string, string>>
  readonly target: string
  /** Several targets, instead of `target`. */
  readonly targets: readonly string[]
  readonly workspace: string
  readonly overlap: Overlap
  /** Missing: distributed on a master, otherwise local. */
  readonly runMode: Exclude<RunMode, 'cloud'> | undefined
  readonly priority: Priority | undefined
  /** Run options of a schedule. */
  readonly run: ScheduledRun
  readonly cron: CronRule | undefined
  readonly event: EventRule | undefined
  readonly watch: WatchRule | undefined
}

export interface CronRule {
  readonly schedule: string
  readonly timezone: string
  readonly missed: Missed
  readonly missedWindowMs: number
  /** How much later than its times it fires: its part of the jitter. */
  readonly delayMs: number
}

export interface EventRule {
  /** A topic or a shell glob over topics; empty: all topics. */
  readonly topic: string
  /** Expressions that must all be true. */
  readonly filters: readonly string[]
  /** Template; the same text within the window fires once. */
  readonly dedupe: { readonly key: string; readonly windowMs: number } | undefined
}

export interface WatchRule {
  /** Absolute path or glob. */
  readonly path: string
  readonly settleMs: number
}

/** A trigger that cannot fire, with the reason. */
export interface BrokenTrigger {
  readonly name: string
  readonly type: ReadyTrigger['type']
  readonly enabled: boolean
  readonly workflow: ReadyTrigger['workflow']
  readonly scheduleId: string
  readonly problem: string
  /** The problems by the fields of a schedule, if they are known. */
  readonly fields: readonly FieldError[]
}

export const MISSED_WINDOW_MS = 3_600_000
export const SETTLE_MS = 2_000
export const DEDUPE_WINDOW_MS = 60_000
