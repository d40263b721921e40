import {
  AppError,
  paramsProblems,
  picked,
  SCHEDULED_RUN_FIELDS,
  withoutPassword,
  withoutPasswords,
  type ChangeSchedule,
  type Schedule,
  type ScheduledRun,
  type Warnings,
  type WorkflowKind,
} from '@scanfarm/contracts'
import type { ScheduleDraft, ScheduleSpec, StoredSchedule } from '@scanfarm/store'
import { checkParams } from '@scanfarm/engine'
import { parseDuration } from '@scanfarm/language'
import type { Catalog } from '../../catalog/catalog.ts'
import { refuse } from '../../http/refusal.ts'
import { priorityOf } from '../../submission/plan-job.ts'
import { deltaProblems } from '../../submission/delta.ts'
import { targetTypeProblems } from '../../submission/collect-targets.ts'
import { timeoutOf, timeoutProblems } from '../../submission/field-rules.ts'
import { delayOf, MAX_JITTER_MS, upcomingTime } from '../../triggers/cron-times.ts'
import { planExecution } from '../../triggers/plan-execution.ts'
import { triggerOfSchedule } from '../../triggers/read-trigger.ts'
import type { EventReceiver } from '../../triggers/event-receiver.ts'
import { scheduledEvent } from '../../triggers/plan-scheduled.ts'
import { triggerEvent } from '../../triggers/plan-event.ts'
import { DEDUPE_WINDOW_MS, MISSED_WINDOW_MS, SETTLE_MS, type ReadyTrigger } from '../../triggers/trigger.ts'

const msOf = (field: string, text: string): number => {
  const ms = parseDuration(text)
  if (ms === undefined)
    refuse([{ path: `/${field}`, message: `"${text}" is not a duration; for example: 30s, 5m, 1h30m` }])
  return ms ?? 0
}

const jitterMsOf = (text: string): number => {
  const ms = msOf('jitter', text)
  if (ms > MAX_JITTER_MS) refuse([{ path: '/jitter', message: `"${text}" is longer than 24h` }])
  return ms
}

const specOf = (body: ChangeSchedule, base: ScheduleSpec): ScheduleSpec => ({
  ...base,
  ...picked(body, ['timezone', 'missed', 'overlap', 'filters', 'input']),
  ...(body.missed_window === undefined ? {} : { missedWindowMs: msOf('missed_window', body.missed_window) }),
  ...(body.jitter === undefined ? {} : { jitterMs: jitterMsOf(body.jitter) }),
  ...(body.dedupe_key === undefined ? {} : { dedupeKey: body.dedupe_key || undefined }),
  ...(body.dedupe_window === undefined ? {} : { dedupeWindowMs: msOf('dedupe_window', body.dedupe_window) }),
  ...(body.debounce === undefined ? {} : { settleMs: msOf('debounce', body.debounce) }),
  ...(body.run_mode === undefined ? {} : { runMode: body.run_mode }),
  ...(body.priority === undefined ? {} : { priority: priorityOf(body) }),
  ...targetsOf(body, base),
  run: { ...base.run, ...runOf(body) },
})

/** A single target replaces several, and the reverse. */
const targetsOf = (
  { target = '', targets }: ChangeSchedule,
  base: ScheduleSpec,
): Pick<ScheduleSpec, 'targets'> => {
  const several = targets ?? (target.trim() === '' ? (base.targets ?? []) : [])
  if (several.length > 0 && target.trim() !== '')
    refuse([{ path: '/targets', message: 'cannot be combined with target: send one of them' }])
  return { targets: several.length === 0 ? undefined : several.map((one) => one.trim()) }
}

/** A new runner discards the image or host of the previous one, a new mode what belonged to the previous one. */
const runOf = (body: ChangeSchedule): ScheduledRun => ({
  ...(body.runner_type === undefined
    ? {}
    : { docker_image: undefined, docker_network: undefined, ssh_host: undefined }),
  ...(body.mode === undefined ? {} : { max_age: undefined, full_every: undefined }),
  ...picked(body, SCHEDULED_RUN_FIELDS),
  ...(body.timeout === undefined ? {} : { timeout: timeoutOf(body) ?? undefined }),
})

const NEEDED = { cron: 'schedule', event: 'event_topic', watch: 'watch_path' } as const

/** A schedule in a list: passwords in targets and params are only shown by the schedule itself. */
export const listed = (schedule: Schedule): Schedule => ({
  ...schedule,
  target: withoutPassword(schedule.target),
  ...(schedule.targets === undefined ? {} : { targets: schedule.targets.map(withoutPassword) }),
  params: withoutPasswords(schedule.params),
  input_config: withoutPasswords(schedule.input_config),
})

/** A change with the stored values where a client sends back what a list showed. */
export const restored = (body: ChangeSchedule, { spec, ...stored }: StoredSchedule): ChangeSchedule => {
  const known = new Map(
    [stored.target, ...(spec.targets ?? [])].map((target) => [withoutPassword(target), target]),
  )
  const masked = withoutPasswords(stored.params)
  const params = Object.entries(body.params ?? {}).map(([name, value]): [string, string] => [
    name,
    value === masked[name] ? (stored.params[name] ?? value) : value,
  ])
  return {
    ...body,
    ...(body.target === undefined ? {} : { target: known.get(body.target) ?? body.target }),
    ...(body.targets === undefined ? {} : { targets: body.targets.map((one) => known.get(one) ?? one) }),
    ...(body.params === undefined ? {} : { params: Object.fromEntries(params) }),
  }
}

/** The schedule of a manual one, which is never enabled. */
const ANY_TIME = '@yearly'

/** Forms always send `flow`. If both kinds have a workflow with the name, the requested kind is used. */
const kindOf = async (
  catalog: Pick<Catalog, 'find' | 'pin'>,
  name: string,
  asked: WorkflowKind | undefined,
): Promise<WorkflowKind> => {
  const { kind } = await catalog.find(name)
  if (asked === undefined || asked === kind) return kind
  const hasBoth = await catalog.pin(name, asked).then(
    () => true,
    () => false,
  )
  return hasBoth ? asked : kind
}

/** Warnings for fields that had no effect. `now`: the stored schedule. */
export const scheduleWarnings = (body: ChangeSchedule, now: Schedule): Warnings => [
  ...(body.workflow_kind === undefined || body.workflow_kind === now.workflow_kind
    ? []
    : [{ field: 'workflow_kind', message: `${now.workflow_name} is a ${now.workflow_kind}` }]),
  ...(body.trigger_type === 'manual'
    ? [
        {
          field: 'trigger_type',
          message: 'the schedule is disabled: start it with POST /schedules/{id}/trigger',
        },
      ]
    : []),
  ...READ_ONLY.flatMap((field) =>
    body[field] === undefined || body[field] === now[field] ? [] : [{ field, message: 'is read-only' }],
  ),
]

/** Other fields may change between a read and a write. */
const READ_ONLY = ['id', 'created_at'] as const

/** Fields that are stored as they are sent. */
const KEPT = ['name', 'workspace', 'params', 'event_topic', 'watch_path'] as const
const EMPTY = { name: '', workspace: '', params: {}, event_topic: '', watch_path: '' }

/** `base`: the stored schedule; undefined: the body is that of a new one. */
export const draftOf = async (
  catalog: Pick<Catalog, 'find' | 'pin'>,
  body: ChangeSchedule,
  base?: ScheduleDraft,
): Promise<ScheduleDraft> => {
  const workflow_name = body.workflow_name ?? base?.workflow_name ?? ''
  const sameWorkflow = body.workflow_name === undefined ? base?.workflow_kind : undefined
  const workflow_kind = await kindOf(catalog, workflow_name, body.workflow_kind ?? sameWorkflow)
  await catalog.pin(workflow_name, workflow_kind)
  refuse([
    ...paramsProblems(body.params ?? {}),
    ...paramsProblems(body.input ?? {}, '/input'),
    ...timeoutProblems(body),
  ])
  const { trigger_type: type } = body
  const byHand = type === 'manual'
  const draft: ScheduleDraft = {
    ...EMPTY,
    ...(base && picked(base, KEPT)),
    ...picked(body, KEPT),
    workflow_name,
    workflow_kind,
    target: (body.target ?? ((body.targets ?? []).length > 0 ? '' : base?.target) ?? '').trim(),
    trigger_type: (type === 'manual' ? undefined : type) ?? base?.trigger_type ?? 'cron',
    schedule: (body.schedule ?? base?.schedule ?? '').trim() || (byHand ? ANY_TIME : ''),
    spec: specOf(body, base?.spec ?? {}),
    is_enabled: !byHand && (body.enabled ?? base?.is_enabled ?? true),
  }
  const needed = NEEDED[draft.trigger_type]
  if (draft[needed] === '')
    refuse([{ path: `/${needed}`, message: `is required for trigger_type ${draft.trigger_type}` }])
  refuse(deltaProblems({ ...draft.spec.run, run_mode: draft.spec.runMode }))
  return draft
}

/** Converts a schedule to its trigger and validates it: if its run needs no event, all of it is planned once. */
export const checkedTrigger = async (
  receiver: EventReceiver,
  draft: ScheduleDraft,
): Promise<ReadyTrigger> => {
  const trigger = triggerOfSchedule({
    id: 'sch_new',
    last_run: null,
    run_count: 0,
    created_at: '',
    updated_at: '',
    ...draft,
  })
  if ('problem' in trigger) {
    refuse(trigger.fields)
    throw new AppError('invalid_input', trigger.problem)
  }
  const { resolved } = await receiver.planning.catalog.pin(draft.workflow_name, draft.workflow_kind)
  const given = { target: draft.target, targets: draft.spec.targets }
  if (draft.trigger_type === 'cron') {
    const at = new Date()
    const event = scheduledEvent(trigger, { fireKey: 'check', at, data: {} })
    const signal = AbortSignal.timeout(CHECK_MS)
    const { targets, draft: draftOfRuns } = await planExecution(
      receiver.planning,
      trigger,
      triggerEvent(event, at.toISOString()),
      signal,
    )
    const [refused] = draftOfRuns.refused?.listed ?? []
    if (targets.length === 0 && refused !== undefined && !draftOfRuns.delta?.leftOut.length)
      throw new AppError('target_refused', `${refused.target}: ${refused.reason}`)
    const planned = targets.map(({ target }) => target)
    refuse(targetTypeProblems(resolved, planned, given))
  } else {
    refuse(targetTypeProblems(resolved, given.targets ?? [given.target], given))
    const isGiven = (path: string) => Object.keys(draft.params).some((name) => path === `/params/${name}`)
    // Missing params may come from the event.
    refuse(checkParams(resolved, draft.params).filter(({ path }) => isGiven(path)))
  }
  return trigger
}

const CHECK_MS = 10_000

const durationText = (ms: number): string => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`)

/** The API form of a schedule. `decidedUntil`: its clock, once the scheduler has started it. */
export const shown = (schedule: StoredSchedule, decidedUntil: Date | undefined): Schedule => {
  const { spec, params, ...stored } = schedule
  const timezone = spec.timezone ?? 'UTC'
  const fires = schedule.is_enabled && schedule.trigger_type === 'cron'
  return {
    ...stored,
    ...(spec.targets === undefined ? {} : { targets: [...spec.targets] }),
    params: { ...params },
    input_config: { ...params, ...(schedule.target === '' ? {} : { target: schedule.target }) },
    trigger_name: schedule.name,
    timezone,
    missed: spec.missed ?? 'once',
    missed_window: durationText(spec.missedWindowMs ?? MISSED_WINDOW_MS),
    jitter: durationText(spec.jitterMs ?? 0),
    overlap: spec.overlap ?? 'allow',
    filters: [...(spec.filters ?? [])],
    dedupe_key: spec.dedupeKey ?? '',
    dedupe_window: durationText(spec.dedupeWindowMs ?? DEDUPE_WINDOW_MS),
    debounce: durationText(spec.settleMs ?? SETTLE_MS),
    input: { ...spec.input },
    ...(spec.runMode === undefined ? {} : { run_mode: spec.runMode }),
    priority: spec.priority ?? 'normal',
    ...shownRun(spec.run),
    next_run: fires
      ? upcomingTime(
          { schedule: schedule.schedule, timezone, delayMs: delayOf(schedule.id, spec.jitterMs ?? 0) },
          decidedUntil,
        )
      : null,
  }
}

const shownRun = (run: ScheduledRun = {}): Partial<Schedule> => ({
  ...picked(run, SCHEDULED_RUN_FIELDS),
  timeout: run.timeout === undefined ? undefined : Number(run.timeout),
})
