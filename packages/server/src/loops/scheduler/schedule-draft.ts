import {
  AppError,
  paramsProblems,
  type ChangeSchedule,
  type CreateSchedule,
  type Schedule,
} from '@scanfarm/contracts'
import type { ScheduleDraft, ScheduleSpec, StoredSchedule } from '@scanfarm/store'
import { checkParams, parseDuration } from '@scanfarm/workflow'
import type { Catalog } from '../../catalog/catalog.ts'
import { refuse } from '../../http/field-refusal.ts'
import { nextTime } from '../event-receiver/cron-times.ts'
import { planFiring } from '../event-receiver/plan-firing.ts'
import { triggerOfSchedule } from '../event-receiver/read-trigger.ts'
import type { EventReceiver } from '../event-receiver/receiver.ts'
import { scheduledEvent } from '../event-receiver/scheduled-fire.ts'
import { triggerEvent } from '../event-receiver/consequence.ts'
import {
  DEDUPE_WINDOW_MS,
  MISSED_WINDOW_MS,
  SETTLE_MS,
  type ReadyTrigger,
} from '../event-receiver/trigger.ts'

const msOf = (field: string, text: string): number => {
  const ms = parseDuration(text)
  if (ms === undefined)
    refuse([{ path: `/${field}`, message: `"${text}" is not a duration; for example: 30s, 5m, 1h30m` }])
  return ms ?? 0
}

const specOf = (body: ChangeSchedule, base: ScheduleSpec): ScheduleSpec => ({
  ...base,
  ...(body.timezone === undefined ? {} : { timezone: body.timezone }),
  ...(body.missed === undefined ? {} : { missed: body.missed }),
  ...(body.missed_window === undefined ? {} : { missedWindowMs: msOf('missed_window', body.missed_window) }),
  ...(body.overlap === undefined ? {} : { overlap: body.overlap }),
  ...(body.filters === undefined ? {} : { filters: body.filters }),
  ...(body.dedupe_key === undefined ? {} : { dedupeKey: body.dedupe_key }),
  ...(body.dedupe_window === undefined ? {} : { dedupeWindowMs: msOf('dedupe_window', body.dedupe_window) }),
  ...(body.debounce === undefined ? {} : { settleMs: msOf('debounce', body.debounce) }),
  ...(body.input === undefined ? {} : { input: body.input }),
  ...(body.run_mode === undefined ? {} : { runMode: body.run_mode }),
  ...(body.priority === undefined ? {} : { priority: body.priority }),
})

const NEEDED = { cron: 'schedule', event: 'event_topic', watch: 'watch_path' } as const

export const newDraft = async (
  catalog: Pick<Catalog, 'find' | 'pin'>,
  body: CreateSchedule,
): Promise<ScheduleDraft> => draftOf(catalog, body, undefined)

export const changedDraft = async (
  catalog: Pick<Catalog, 'find' | 'pin'>,
  base: StoredSchedule,
  body: ChangeSchedule,
): Promise<ScheduleDraft> => draftOf(catalog, body, base)

const draftOf = async (
  catalog: Pick<Catalog, 'find' | 'pin'>,
  body: ChangeSchedule,
  base: ScheduleDraft | undefined,
): Promise<ScheduleDraft> => {
  const workflowName = body.workflow_name ?? base?.workflowName ?? ''
  const sameWorkflow = body.workflow_name === undefined ? base?.workflowKind : undefined
  const workflowKind = body.workflow_kind ?? sameWorkflow ?? (await catalog.find(workflowName)).kind
  await catalog.pin(workflowName, workflowKind)
  refuse([...paramsProblems(body.params ?? {}), ...paramsProblems(body.input ?? {}, '/input')])
  const draft = {
    name: body.name ?? base?.name ?? '',
    workflowName,
    workflowKind,
    target: (body.target ?? base?.target ?? '').trim(),
    workspace: body.workspace ?? base?.workspace ?? '',
    params: body.params ?? base?.params ?? {},
    triggerType: body.trigger_type ?? base?.triggerType ?? 'cron',
    schedule: (body.schedule ?? base?.schedule ?? '').trim(),
    eventTopic: body.event_topic ?? base?.eventTopic ?? '',
    watchPath: body.watch_path ?? base?.watchPath ?? '',
    spec: specOf(body, base?.spec ?? {}),
    enabled: body.enabled ?? base?.enabled ?? true,
  }
  const needed = NEEDED[draft.triggerType]
  const given = { schedule: draft.schedule, event_topic: draft.eventTopic, watch_path: draft.watchPath }
  if (given[needed] === '')
    refuse([{ path: `/${needed}`, message: `is required for the trigger type ${draft.triggerType}` }])
  return draft
}

/**
 * The trigger that a schedule is. Refuses what can be known to be wrong now: where the run needs nothing of an event,
 * the whole run is planned once.
 */
export const checkedTrigger = async (
  receiver: EventReceiver,
  draft: ScheduleDraft,
): Promise<ReadyTrigger> => {
  const trigger = triggerOfSchedule({
    id: 'sch_new',
    lastRun: null,
    runCount: 0,
    createdAt: '',
    updatedAt: '',
    ...draft,
  })
  if ('problem' in trigger)
    throw new AppError('invalid_input', trigger.problem, {
      details: [{ path: `/${NEEDED[draft.triggerType]}`, message: trigger.problem }],
    })
  if (draft.triggerType === 'cron') {
    const at = new Date()
    const event = scheduledEvent(trigger, { fireKey: 'check', at, data: {} })
    const patience = AbortSignal.timeout(CHECK_MS)
    await planFiring(receiver.plan, trigger, triggerEvent(event, at.toISOString()), patience)
  } else {
    const { resolved } = await receiver.plan.catalog.pin(draft.workflowName, draft.workflowKind)
    const given = (path: string) => Object.keys(draft.params).some((name) => path === `/params/${name}`)
    // What is missing may come with the event.
    refuse(checkParams(resolved, draft.params).filter(({ path }) => given(path)))
  }
  return trigger
}

const CHECK_MS = 10_000

const durationText = (ms: number): string => (ms % 1_000 === 0 ? `${ms / 1_000}s` : `${ms}ms`)

/** As the API shows it. */
export const shown = (schedule: StoredSchedule, now: Date = new Date()): Schedule => {
  const { spec } = schedule
  const timezone = spec.timezone ?? 'UTC'
  const fires = schedule.enabled && schedule.triggerType === 'cron'
  return {
    id: schedule.id,
    name: schedule.name,
    workflow_name: schedule.workflowName,
    workflow_kind: schedule.workflowKind,
    target: schedule.target,
    workspace: schedule.workspace,
    params: { ...schedule.params },
    input_config: { ...schedule.params, ...(schedule.target === '' ? {} : { target: schedule.target }) },
    trigger_name: schedule.name,
    trigger_type: schedule.triggerType,
    schedule: schedule.schedule,
    timezone,
    event_topic: schedule.eventTopic,
    watch_path: schedule.watchPath,
    missed: spec.missed ?? 'once',
    missed_window: durationText(spec.missedWindowMs ?? MISSED_WINDOW_MS),
    overlap: spec.overlap ?? 'allow',
    filters: [...(spec.filters ?? [])],
    dedupe_key: spec.dedupeKey ?? '',
    dedupe_window: durationText(spec.dedupeWindowMs ?? DEDUPE_WINDOW_MS),
    debounce: durationText(spec.settleMs ?? SETTLE_MS),
    input: { ...spec.input },
    ...(spec.runMode === undefined ? {} : { run_mode: spec.runMode }),
    priority: spec.priority ?? 'normal',
    is_enabled: schedule.enabled,
    last_run: schedule.lastRun,
    next_run: fires ? (nextTime(schedule.schedule, timezone, now)?.toISOString() ?? null) : null,
    run_count: schedule.runCount,
    created_at: schedule.createdAt,
    updated_at: schedule.updatedAt,
  }
}
