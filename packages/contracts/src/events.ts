import { Type, type Static } from 'typebox'
import { CreateRuns, SCHEDULED_RUN_FIELDS } from './runs/create-run.ts'
import { NullableTimestamp, StringMap, Timestamp } from './resources.ts'
import { Priority, RunMode, RunnerType, WorkflowKind } from './enums.ts'
import { EVENT_WORD_LENGTH } from './event-limits.ts'
import { SEVERITIES } from './findings/severities.ts'
import { closed, Count, count, flag, named, nullable, picked, text } from './objects.ts'

/** Data types of events by topic; those of all other topics are `custom`. */
const DATA_TYPES: Readonly<Record<string, string>> = {
  'run.started': 'scan',
  'run.completed': 'scan',
  'run.failed': 'scan',
  'run.cancelled': 'scan',
  'job.ended': 'job',
  'target.refused': 'scan',
  'step.completed': 'step',
  'step.failed': 'step',
  'asset.discovered': 'asset',
  'asset.updated': 'asset',
  'vuln.found': 'vulnerability',
  'vuln.back': 'vulnerability',
  'schedule.triggered': 'schedule',
  'schedule.ended': 'schedule',
  'webhook.received': 'webhook',
  'findings.digest': 'digest',
  'findings.reminder': 'reminder',
}

export const dataTypeOf = (topic: string): string =>
  (Object.hasOwn(DATA_TYPES, topic) ? DATA_TYPES[topic] : undefined) ?? 'custom'

/** Sources that are reserved for events of the farm, so that triggers can rely on them. */
export const SYSTEM_SOURCES: readonly string[] = ['executor', 'scheduler']

const Topic = Type.String({
  pattern: '^[A-Za-z0-9][A-Za-z0-9._:/-]{0,255}$',
  description: 'letters, digits and . _ : / -, for example custom.build',
})

/** The body of `POST /events/emit`. */
export const EmitEvent = closed(
  {
    topic: Topic,
    data: Type.Object({}, { additionalProperties: true, description: 'Data for the triggered workflows' }),
    name: Type.Optional(Type.String({ maxLength: 256, description: 'Default: the topic' })),
    source: Type.Optional(
      Type.String({
        maxLength: EVENT_WORD_LENGTH,
        pattern: '^[^\\u0000-\\u001f\\u007f]*$',
        description: `Where the event comes from, for example the name of a tool; default api. ${SYSTEM_SOURCES.join(' and ')} are reserved for events of the farm`,
      }),
    ),
    data_type: Type.Optional(
      Type.String({ minLength: 1, maxLength: 64, description: 'Default: derived from the topic' }),
    ),
  },
  { $id: 'EmitEvent' },
)
export type EmitEvent = Static<typeof EmitEvent>

export const EventEmitted = named('EventEmitted', {
  message: Type.String(),
  topic: Type.String(),
  event_id: Type.String({ pattern: '^evt_' }),
  triggered_workflows: Type.Array(Type.String()),
  success: Type.Literal(true),
  note: Type.Optional(text('Only when no workflow was triggered')),
})
export type EventEmitted = Static<typeof EventEmitted>

export const EventLogEntry = named('EventLogEntry', {
  id: Type.Integer(),
  topic: Type.String(),
  event_id: Type.String(),
  name: Type.String(),
  source: Type.String(),
  source_type: Type.Optional(
    Type.Enum(['run', 'api'], { description: 'run: an event of a run; only below /osm/api' }),
  ),
  data_type: Type.String(),
  data: text('JSON text'),
  workspace: Type.String(),
  run_id: text('run_uuid, or ""'),
  workflow_name: Type.String(),
  processed: Type.Boolean(),
  processed_at: NullableTimestamp,
  error: Type.String(),
  created_at: Timestamp,
})
export type EventLogEntry = Static<typeof EventLogEntry>

export const WebhookSubscription = named('WebhookSubscription', {
  id: Type.Integer(),
  name: Type.String(),
  url: Type.String(),
  /** Topics or shell globs. */
  topics: Type.Array(Type.String()),
  filters: Type.Array(Type.String()),
  format: Type.Enum(['json', 'slack', 'discord', 'teams', 'mail']),
  min_severity: Type.Enum(['', ...SEVERITIES], {
    description:
      'Events about findings, and ends of jobs with new findings or ones that are back, are sent if one is at least this severe; reminders if one is open',
  }),
  /** Of the text of a message; `""`: the usual text. */
  template: Type.String(),
  /** Whether a mail about the end of a job has the report attached. */
  report: Type.Boolean(),
  enabled: Type.Boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type WebhookSubscription = Static<typeof WebhookSubscription>

export const IncomingWebhook = Type.Object({
  name: Type.String(),
  created_at: Timestamp,
  last_received_at: NullableTimestamp,
  received_count: count('Accepted requests'),
})
export type IncomingWebhook = Static<typeof IncomingWebhook>

/** Of an event to a subscription. */
export const DeliveryStatus = Type.Enum(['pending', 'delivered', 'dead'])

export const Delivery = named('WebhookDelivery', {
  id: Type.Integer(),
  subscription_id: Type.Integer(),
  subscription: text('Its name'),
  event_id: Type.String(),
  topic: Type.String(),
  status: DeliveryStatus,
  attempts: Type.Integer(),
  next_at: Type.String({ format: 'date-time', description: 'Next attempt, if it is pending' }),
  last_status: Type.Integer({ description: 'HTTP status of the last answer; 0 if there was none' }),
  last_error: Type.String(),
  created_at: Timestamp,
  delivered_at: NullableTimestamp,
  last_attempt_at: NullableTimestamp,
  last_ms: nullable(Type.Integer(), 'How long the last attempt took'),
  last_answer: text('The first 1,024 bytes of the last answer'),
})
export type Delivery = Static<typeof Delivery>

export const ScheduledTriggerType = Type.Enum(['cron', 'event', 'watch'])
export type ScheduledTriggerType = Static<typeof ScheduledTriggerType>

export const EventReceiverStatus = named('EventReceiverStatus', {
  enabled: Type.Boolean(),
  running: Type.Boolean(),
  triggers: Type.Object({ cron: Count, event: Count, watch: Count }),
  workflows_loaded: Count,
  workflow_count: count('Same as workflows_loaded'),
  trigger_count: count('Triggers of all types'),
  last_event_at: NullableTimestamp,
})
export type EventReceiverStatus = Static<typeof EventReceiverStatus>

export const ReceiverTrigger = named('ReceiverTrigger', {
  name: Type.String(),
  type: ScheduledTriggerType,
  enabled: Type.Boolean(),
  schedule: Type.Optional(Type.String()),
  timezone: Type.Optional(Type.String()),
  next_run: Type.Optional(NullableTimestamp),
  topic: Type.Optional(Type.String()),
  path: Type.Optional(Type.String()),
  schedule_id: Type.Optional(text('Set if the trigger is a schedule')),
  problem: Type.Optional(text('The reason why it does not work, or why its runs would wait')),
})
export type ReceiverTrigger = Static<typeof ReceiverTrigger>

export const ReceiverWorkflow = named('ReceiverWorkflow', {
  name: Type.String(),
  kind: WorkflowKind,
  triggers: Type.Array(ReceiverTrigger),
})
export type ReceiverWorkflow = Static<typeof ReceiverWorkflow>

const Duration = Type.String({ minLength: 1, maxLength: 32, description: 'For example 30s, 5m or 1h30m' })
const Name = Type.String({ minLength: 1, maxLength: 256 })
/** Of a schedule whose time has passed. */
export const Missed = Type.Enum(['skip', 'once', 'all'])
export type Missed = Static<typeof Missed>
/** With runs of the previous execution that have not ended. */
export const Overlap = Type.Enum(['allow', 'skip', 'queue', 'cancel-previous'])
export type Overlap = Static<typeof Overlap>

/** Limits memory: every master keeps all schedules in memory. */
export const SCHEDULE_TARGETS = 100

const READ_ONLY = { description: 'Read-only; accepted so that a schedule can be sent back unchanged' }

const options = {
  workflow_kind: Type.Optional(WorkflowKind),
  trigger_type: Type.Optional(
    Type.Enum(['cron', 'event', 'watch', 'manual'], {
      description: 'Default: cron. manual is a disabled cron that only POST /schedules/{id}/trigger fires',
    }),
  ),
  schedule: Type.Optional(
    Type.String({
      maxLength: 128,
      description: 'Cron expression of five fields, @daily or @every 2h; for cron',
    }),
  ),
  timezone: Type.Optional(Type.String({ minLength: 1, maxLength: 64, description: 'For cron; default UTC' })),
  missed: Type.Optional(Missed),
  missed_window: Type.Optional(Duration),
  jitter: Type.Optional(
    Type.String({
      maxLength: 32,
      description:
        'A duration of at most 24h, for cron: each schedule starts later than its times by a part of it, always the same one, so that schedules with equal times do not start together. Without effect on @every',
    }),
  ),
  event_topic: Type.Optional(Type.String({ maxLength: 256, description: 'Topic or shell glob; for event' })),
  filters: Type.Optional(Type.Array(Type.String({ minLength: 1, maxLength: 4096 }), { maxItems: 32 })),
  dedupe_key: Type.Optional(Type.String({ maxLength: 1024 })),
  dedupe_window: Type.Optional(Duration),
  watch_path: Type.Optional(
    Type.String({ maxLength: 4096, description: 'Absolute path or glob on the server; for watch' }),
  ),
  debounce: Type.Optional(Duration),
  overlap: Type.Optional(Overlap),
  target: Type.Optional(text('"" for a workflow that needs no target')),
  targets: Type.Optional(
    Type.Array(Type.String(), {
      maxItems: SCHEDULE_TARGETS,
      description: 'Several targets instead of target',
    }),
  ),
  workspace: Type.Optional(Type.String()),
  params: Type.Optional(StringMap),
  ...picked(CreateRuns.properties, SCHEDULED_RUN_FIELDS),
  input: Type.Optional(Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: 4096 }))),
  run_mode: Type.Optional(Type.Enum(['local', 'distributed'])),
  priority: CreateRuns.properties.priority,
  enabled: Type.Optional(flag('Alias: is_enabled')),
  input_config: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Target and params combined; used only if neither target nor params is given',
    }),
  ),
  id: Type.Optional(Type.String(READ_ONLY)),
  trigger_name: Type.Optional(Type.String(READ_ONLY)),
  last_run: Type.Optional(Type.String(READ_ONLY)),
  next_run: Type.Optional(Type.String(READ_ONLY)),
  run_count: Type.Optional(Type.Integer(READ_ONLY)),
  created_at: Type.Optional(Type.String(READ_ONLY)),
  updated_at: Type.Optional(Type.String(READ_ONLY)),
}

export const CreateSchedule = closed(
  { name: Name, workflow_name: Name, ...options },
  { $id: 'CreateSchedule' },
)
export type CreateSchedule = Static<typeof CreateSchedule>

export const ChangeSchedule = closed(
  { name: Type.Optional(Name), workflow_name: Type.Optional(Name), ...options },
  { $id: 'ChangeSchedule', minProperties: 1 },
)
export type ChangeSchedule = Static<typeof ChangeSchedule>

export const Schedule = named('Schedule', {
  id: Type.String({ pattern: '^sch_' }),
  name: Type.String(),
  workflow_name: Type.String(),
  workflow_kind: WorkflowKind,
  target: Type.String(),
  targets: Type.Optional(Type.Array(Type.String())),
  workspace: Type.String(),
  params: StringMap,
  input_config: StringMap,
  trigger_name: Type.String(),
  trigger_type: ScheduledTriggerType,
  schedule: Type.String(),
  timezone: Type.String(),
  event_topic: Type.String(),
  watch_path: Type.String(),
  missed: Missed,
  missed_window: Type.String(),
  jitter: Type.String(),
  overlap: Overlap,
  filters: Type.Array(Type.String()),
  dedupe_key: Type.String(),
  dedupe_window: Type.String(),
  debounce: Type.String(),
  input: StringMap,
  run_mode: Type.Optional(RunMode),
  priority: Priority,
  runner_type: Type.Optional(RunnerType),
  docker_image: Type.Optional(Type.String()),
  docker_network: Type.Optional(Type.String()),
  ssh_host: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  mode: CreateRuns.properties.mode,
  max_age: CreateRuns.properties.max_age,
  full_every: CreateRuns.properties.full_every,
  resume: CreateRuns.properties.resume,
  timeout: Type.Optional(Type.Integer({ description: 'minutes' })),
  concurrency: Type.Optional(Type.Integer()),
  is_enabled: Type.Boolean(),
  last_run: NullableTimestamp,
  next_run: NullableTimestamp,
  run_count: Count,
  created_at: Timestamp,
  updated_at: Timestamp,
})
export type Schedule = Static<typeof Schedule>
