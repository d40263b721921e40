import {
  AppError,
  closed,
  dataTypeOf,
  EmitEvent,
  named,
  NullableTimestamp,
  Overlap,
  page,
  Priority,
  RunMode,
  RunOutcome,
  ScheduledTriggerType,
  WorkflowKind,
  wrapped,
} from '@scanfarm/contracts'
import type { TriggerEvent } from '@scanfarm/engine'
import type { ExecutionPlan, LastFiring } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { route } from '../../http/route.ts'
import { upcomingTime } from '../../triggers/cron-times.ts'
import { newEvent, triggerEvent } from '../../triggers/plan-event.ts'
import { scheduledEvent } from '../../triggers/plan-scheduled.ts'
import { testTrigger, type TriggerTest } from '../../triggers/test-trigger.ts'
import type { BrokenTrigger, ReadyTrigger } from '../../triggers/trigger.ts'
import { pageQuery } from '../../http/paging.ts'
import { refuseLargeData } from './emit-event.ts'

const Texts = Type.Array(Type.String())

const ShownTrigger = named('Trigger', {
  key: Type.String({ description: 'For POST /triggers/test; empty for a trigger that has a problem' }),
  name: Type.String(),
  type: ScheduledTriggerType,
  enabled: Type.Boolean(),
  workflow: Type.Object({ name: Type.String(), kind: WorkflowKind }),
  source: Type.Enum(['workflow', 'schedule'], {
    description: 'Where it is declared: in the file of the workflow, or as a schedule',
  }),
  schedule_id: Type.String({ description: 'Of a schedule, or empty' }),
  schedule: Type.String({ description: 'Of a cron trigger, or empty' }),
  timezone: Type.String(),
  topic: Type.String({ description: 'Topic or glob of an event trigger; empty: all topics' }),
  filters: Texts,
  path: Type.String({ description: 'Of a watch trigger, or empty' }),
  overlap: Overlap,
  last_fired_at: NullableTimestamp,
  last_state: Type.Enum(['', 'done', 'open', 'waiting', 'skipped'], {
    description:
      'open: its runs may be under way. waiting: its runs wait for those before. skipped: it made no run',
  }),
  last_job_id: Type.String({ description: 'Job of the last execution, or empty' }),
  last_outcome: Type.Union([RunOutcome, Type.Null()], {
    description: 'Of all runs of that job; null until it has ended',
  }),
  next_run: NullableTimestamp,
  problem: Type.String({ description: 'Why it cannot fire, or empty' }),
})
type ShownTrigger = Static<typeof ShownTrigger>

const NOTHING = {
  key: '',
  schedule: '',
  timezone: '',
  topic: '',
  filters: [],
  path: '',
  overlap: 'allow',
  last_fired_at: null,
  last_state: '',
  last_job_id: '',
  last_outcome: null,
  next_run: null,
  problem: '',
} as const satisfies Partial<ShownTrigger>

const common = ({ name, type, enabled, workflow, scheduleId }: ReadyTrigger | BrokenTrigger) => ({
  ...NOTHING,
  filters: [],
  name,
  type,
  enabled,
  workflow: { ...workflow },
  source: scheduleId === '' ? ('workflow' as const) : ('schedule' as const),
  schedule_id: scheduleId,
})

const shown = (
  trigger: ReadyTrigger,
  decidedUntil: Date | undefined,
  last: LastFiring | undefined,
): ShownTrigger => {
  const { cron, event, watch } = trigger
  return {
    ...common(trigger),
    key: trigger.key,
    overlap: trigger.overlap,
    ...(cron && { schedule: cron.schedule, timezone: cron.timezone }),
    ...(cron && trigger.enabled && { next_run: upcomingTime(cron, decidedUntil) }),
    ...(event && { topic: event.topic, filters: [...event.filters] }),
    ...(watch && { path: watch.path }),
    ...(last && {
      last_fired_at: last.firedAt,
      last_state: last.state,
      last_job_id: last.jobId,
      last_outcome: last.outcome,
    }),
  }
}

export const listTriggers = route(
  {
    endpoint: 'GET /triggers',
    summary: 'List the triggers of workflow files and schedules, with their last and next executions',
    description:
      'Sorted by workflow and name. Triggers of the type manual are not listed: they only allow or forbid starts by hand.',
    role: 'viewer',
    query: closed({
      type: Type.Optional(ScheduledTriggerType),
      enabled: Type.Optional(Type.Boolean()),
      workflow: Type.Optional(Type.String({ description: 'Exact name' })),
      source: Type.Optional(Type.Enum(['workflow', 'schedule'])),
      offset: pageQuery.offset,
      limit: pageQuery.limit,
    }),
    responses: { 200: page(ShownTrigger) },
  },
  async ({ receiver, store }, { query, page }) => {
    const { type, enabled, workflow, source } = query
    const { ready, broken } = await receiver.registry.current()
    const found = [...ready, ...broken]
      .filter(
        (one) =>
          (type === undefined || one.type === type) &&
          (enabled === undefined || one.enabled === enabled) &&
          (workflow === undefined || one.workflow.name === workflow) &&
          (source === undefined || (one.scheduleId === '') === (source === 'workflow')),
      )
      .sort((a, b) => a.workflow.name.localeCompare(b.workflow.name) || a.name.localeCompare(b.name))
    const { offset, limit } = page
    const listed = found.slice(offset, offset + limit)
    const keys = listed.flatMap((one) => ('key' in one ? [one.key] : []))
    const [clocks, last] = await Promise.all([store.triggers.clocks(keys), store.triggers.lastFirings(keys)])
    const data = listed.map((one) =>
      'key' in one
        ? shown(one, clocks.get(one.key), last.get(one.key))
        : { ...common(one), problem: one.problem },
    )
    return { data, pagination: { total: found.length, offset, limit } }
  },
)

/** Most triggers that one event is tested with. */
const MAX_TESTED = 20
/** Most targets in the answer. */
const MAX_TARGETS = 100
const TEST_MS = 20_000
const Word = Type.String({ maxLength: 256 })

const TestEvent = closed({
  ...Type.Partial(EmitEvent).properties,
  source: Type.Optional(Type.String({ maxLength: 256, description: 'Any, also those of the farm' })),
  workspace: Type.Optional(Type.String({ maxLength: 2048 })),
  run_uuid: Type.Optional(Word),
  workflow_name: Type.Optional(Word),
})

const PlannedRun = Type.Object({
  workflow: Type.String(),
  kind: WorkflowKind,
  target_count: Type.Integer({ minimum: 0 }),
  targets: Type.Array(Type.String(), { description: `At most ${MAX_TARGETS}; "" is a run without a target` }),
  workspace: Type.String({ description: 'Of the first target' }),
  params: Type.Record(Type.String(), Type.String()),
  run_mode: RunMode,
  priority: Priority,
})

const Tested = Type.Object({
  key: Type.String(),
  name: Type.String(),
  type: ScheduledTriggerType,
  workflow: Type.String(),
  enabled: Type.Boolean(),
  topic: Type.Object({ pattern: Type.String({ description: 'Empty: all topics' }), matches: Type.Boolean() }),
  filters: Type.Array(
    Type.Object({
      expression: Type.String(),
      passed: Type.Boolean(),
      result: Type.Unknown(),
      error: Type.String({ description: 'Why it could not be evaluated, or empty' }),
    }),
  ),
  dedupe: Type.Union([
    Type.Object({
      key: Type.String({ description: 'For this event' }),
      window_ms: Type.Integer(),
      blocked_until: NullableTimestamp,
    }),
    Type.Null(),
  ]),
  overlap: Type.Object({
    policy: Overlap,
    open: Type.Integer({ description: 'Executions whose runs have not ended' }),
  }),
  would_start: Type.Boolean(),
  reasons: Type.Array(Type.String(), { description: 'Why it would not start, or would wait' }),
  run: Type.Union([PlannedRun, Type.Null()]),
})

export const testTriggers = route(
  {
    endpoint: 'POST /triggers/test',
    summary: 'Tell what triggers would do with an event; nothing is started or stored',
    description: `Tests one trigger (\`key\` from GET /triggers, or \`workflow\` and \`trigger\`), all triggers of a workflow, or all event triggers whose topic matches; at most ${MAX_TESTED}. All filters are evaluated, also after one that fails. Cron and watch triggers need no event: \`data\` is added to the event schedule.triggered. Disabled triggers are tested too.`,
    role: 'operator',
    body: closed({
      key: Type.Optional(Type.String({ minLength: 1, maxLength: 1024 })),
      workflow: Type.Optional(Word),
      trigger: Type.Optional(Type.String({ maxLength: 256, description: 'Its name' })),
      event: Type.Optional(TestEvent),
    }),
    anyText: true,
    responses: { 200: wrapped(Type.Array(Tested)) },
    errors: ['not_found', 'payload_too_large', 'unavailable'],
  },
  async ({ receiver, store, evaluations }, { body, http }) => {
    using _slot = evaluations.acquire()
    const { key, workflow, trigger: name, event = {} } = body
    refuseLargeData(JSON.stringify(event.data ?? {}))
    const { ready, broken } = await receiver.registry.current()
    const isAsked = (one: ReadyTrigger | BrokenTrigger): boolean =>
      (key === undefined || ('key' in one && one.key === key)) &&
      (workflow === undefined || one.workflow.name === workflow) &&
      (name === undefined || one.name === name)
    const isOpen = key === undefined && workflow === undefined && name === undefined
    const asked = ready.filter((one) => isAsked(one) && (!isOpen || one.type === 'event'))
    if (asked.length === 0 && !isOpen) throw nothingToTest(broken.filter(isAsked))
    const signal = AbortSignal.any([http.signal(), AbortSignal.timeout(TEST_MS)])
    const data: Static<typeof Tested>[] = []
    for (const trigger of asked) {
      if (data.length >= MAX_TESTED) break
      const about = eventFor(trigger, event)
      const tested = await testTrigger(receiver.testing, trigger, about, signal)
      if (isOpen && !tested.topicMatches) continue
      const dedupe = tested.plan?.dedupe
      const { open, until } = await store.triggers.obstacles(trigger.key, dedupe?.key)
      const reasons = reasonsOf(trigger, tested, open, until)
      data.push({
        key: trigger.key,
        name: trigger.name,
        type: trigger.type,
        workflow: trigger.workflow.name,
        enabled: trigger.enabled,
        topic: { pattern: trigger.event?.topic ?? '', matches: tested.topicMatches },
        filters: tested.filters.map((filter) => ({ ...filter })),
        dedupe: dedupe ? { key: dedupe.key, window_ms: dedupe.windowMs, blocked_until: until } : null,
        overlap: { policy: trigger.overlap, open },
        would_start: reasons.length === 0,
        reasons,
        run: tested.plan === undefined ? null : plannedRun(tested.plan),
      })
    }
    return { data }
  },
)

const nothingToTest = ([first]: readonly BrokenTrigger[]): AppError =>
  first === undefined
    ? new AppError('not_found', 'there is no such trigger; see GET /triggers')
    : new AppError('invalid_input', `the trigger ${JSON.stringify(first.name)} cannot fire: ${first.problem}`)

const eventFor = (trigger: ReadyTrigger, given: Static<typeof TestEvent>): TriggerEvent => {
  const at = new Date()
  if (trigger.event === undefined) {
    const base = triggerEvent(scheduledEvent(trigger, { fireKey: 'test', at, data: {} }), at.toISOString())
    return { ...base, data: { ...base.data, ...(given.data as TriggerEvent['data'] | undefined) } }
  }
  const { topic = trigger.event.topic, data = {} } = given
  const event = newEvent({
    topic,
    name: given.name ?? topic,
    source: given.source ?? 'api',
    data_type: given.data_type ?? dataTypeOf(topic),
    data: JSON.stringify(data),
    workspace: given.workspace ?? '',
    run_id: given.run_uuid ?? '',
    workflow_name: given.workflow_name ?? '',
  })
  return triggerEvent(event, at.toISOString())
}

const reasonsOf = (
  { enabled, overlap, event }: ReadyTrigger,
  { topicMatches, loops, filters, plan, error }: TriggerTest,
  open: number,
  until: string | null,
): string[] => [
  ...(enabled ? [] : ['the trigger is disabled']),
  ...(topicMatches ? [] : [`the topic does not match ${JSON.stringify(event?.topic ?? '')}`]),
  ...(loops ? ['the event is from a run that this trigger would start again and again'] : []),
  ...filters.flatMap(({ passed, expression, error: problem }) =>
    passed ? [] : [problem === '' ? `a filter is false: ${expression}` : `a filter failed: ${problem}`],
  ),
  ...(plan === undefined ? [`the run cannot be planned: ${error}`] : []),
  ...(until === null ? [] : [`an event with the same dedupe key has fired; blocked until ${until}`]),
  ...(open > 0 && overlap === 'skip' ? ['the runs of an earlier execution have not ended'] : []),
  ...(open > 0 && overlap === 'queue' ? ['it would wait until the runs of an earlier execution end'] : []),
]

const plannedRun = ({ draft, targets }: ExecutionPlan): Static<typeof PlannedRun> => ({
  workflow: draft.workflowName,
  kind: draft.workflowKind,
  target_count: targets.length,
  targets: targets.slice(0, MAX_TARGETS).map(({ target }) => target),
  workspace: targets[0]?.workspace ?? '',
  params: { ...draft.params },
  run_mode: draft.runMode,
  priority: draft.priority,
})
