import { isAbsolute } from 'node:path'
import {
  paramProblem,
  paramsProblems,
  targetProblem,
  workspaceProblem,
  type WorkflowKind,
} from '@scanfarm/contracts'
import type { StoredSchedule } from '@scanfarm/store'
import { cronProblem, inputProblem, parseDuration, type Json, type Trigger } from '@scanfarm/workflow'
import { topicProblem } from './topics.ts'
import {
  DEDUPE_WINDOW_MS,
  MISSED_WINDOW_MS,
  SETTLE_MS,
  type BrokenTrigger,
  type ReadyTrigger,
} from './trigger.ts'

interface Owner {
  readonly name: string
  readonly kind: WorkflowKind
}

export type ReadTrigger = ReadyTrigger | BrokenTrigger

/** A trigger of a workflow file; undefined for those that only gate what people start. */
export const triggerOfFile = (workflow: Owner, trigger: Trigger, index: number): ReadTrigger | undefined => {
  if (trigger.on === undefined || trigger.on === 'manual') return undefined
  const name = trigger.name ?? `trigger ${index + 1}`
  const base = { name, type: trigger.on, enabled: trigger.enabled ?? false, workflow }
  try {
    return checked({
      ...base,
      key: `${workflow.kind}/${workflow.name}#${trigger.name ?? index + 1}`,
      scheduleId: '',
      input: inputOf(trigger.input ?? {}),
      params: {},
      target: '',
      workspace: '',
      overlap: trigger.overlap ?? 'allow',
      runMode: trigger.run_mode,
      priority: undefined,
      cron: trigger.on === 'cron' ? cronOf(trigger) : undefined,
      event: trigger.on === 'event' ? eventOf(trigger) : undefined,
      watch:
        trigger.on === 'watch'
          ? { path: trigger.path ?? '', settleMs: durationOf('debounce', trigger.debounce, SETTLE_MS) }
          : undefined,
    })
  } catch (error) {
    return { ...base, problem: error instanceof Error ? error.message : String(error) }
  }
}

const cronOf = (trigger: Trigger) => ({
  schedule: trigger.schedule ?? '',
  timezone: trigger.timezone ?? 'UTC',
  missed: trigger.missed ?? 'once',
  missedWindowMs: durationOf('missed_window', trigger.missed_window, MISSED_WINDOW_MS),
})

const eventOf = ({ event = {} }: Trigger) => ({
  topic: event.topic ?? '',
  filters: [...(event.filters ?? []), ...(event.filter_functions ?? [])],
  dedupe:
    event.dedupe_key === undefined
      ? undefined
      : {
          key: event.dedupe_key,
          windowMs: durationOf('dedupe_window', event.dedupe_window, DEDUPE_WINDOW_MS),
        },
})

const durationOf = (field: string, text: string | undefined, fallback: number): number => {
  const ms = text === undefined ? fallback : parseDuration(text)
  if (ms === undefined) throw new Error(`${field}: "${text}" is not a duration; for example: 30s, 5m, 1h30m`)
  return ms
}

/** `{param: expression}`, or the older `{type: event_data, field, name}` and `{type: function, function, name}`. */
const inputOf = (input: Readonly<Record<string, Json>>): Record<string, string> => {
  const { type, name, field, function: call } = input
  if (type === 'event_data' && typeof field === 'string')
    return { [typeof name === 'string' ? name : 'target']: `event_data.${field}` }
  if (type === 'function' && typeof call === 'string')
    return { [typeof name === 'string' ? name : 'target']: call }
  if (type === 'param' || type === 'file')
    throw new Error(
      `input: the type ${type} is not supported; write {name: expression}, as in {target: event_data.url}`,
    )
  return Object.fromEntries(
    Object.entries(input).map(([key, value]) => [
      key === 'Target' ? 'target' : key,
      typeof value === 'string' ? value : JSON.stringify(value),
    ]),
  )
}

/** A schedule of the API as a trigger. */
export const triggerOfSchedule = (schedule: StoredSchedule): ReadTrigger => {
  const { spec } = schedule
  const workflow = { name: schedule.workflowName, kind: schedule.workflowKind }
  const base = { name: schedule.name, type: schedule.triggerType, enabled: schedule.enabled, workflow }
  try {
    return checked({
      ...base,
      key: schedule.id,
      scheduleId: schedule.id,
      input: spec.input ?? {},
      params: schedule.params,
      target: schedule.target,
      workspace: schedule.workspace,
      overlap: spec.overlap ?? 'allow',
      runMode: spec.runMode,
      priority: spec.priority,
      cron:
        schedule.triggerType === 'cron'
          ? {
              schedule: schedule.schedule,
              timezone: spec.timezone ?? 'UTC',
              missed: spec.missed ?? 'once',
              missedWindowMs: spec.missedWindowMs ?? MISSED_WINDOW_MS,
            }
          : undefined,
      event:
        schedule.triggerType === 'event'
          ? {
              topic: schedule.eventTopic,
              filters: spec.filters ?? [],
              dedupe:
                spec.dedupeKey === undefined
                  ? undefined
                  : { key: spec.dedupeKey, windowMs: spec.dedupeWindowMs ?? DEDUPE_WINDOW_MS },
            }
          : undefined,
      watch:
        schedule.triggerType === 'watch'
          ? { path: schedule.watchPath, settleMs: spec.settleMs ?? SETTLE_MS }
          : undefined,
    })
  } catch (error) {
    return { ...base, problem: error instanceof Error ? error.message : String(error) }
  }
}

/** Throws with everything that can be known to be wrong before the first firing. */
const checked = (trigger: ReadyTrigger): ReadyTrigger => {
  const problems = [
    trigger.cron && cronProblem(trigger.cron.schedule, trigger.cron.timezone),
    trigger.event && topicProblem(trigger.event.topic),
    trigger.watch && pathProblem(trigger.watch.path),
    ...Object.values(trigger.input).map(inputProblem),
    ...paramsProblems(trigger.params).map(({ message }) => message),
    ...paramsProblems(trigger.input, '/input').map(({ message }) => `input: ${message}`),
    ...Object.values(trigger.params).map(paramProblem),
    trigger.target === '' ? undefined : targetProblem(trigger.target),
    trigger.workspace === '' ? undefined : workspaceProblem(trigger.workspace),
  ].filter((problem) => problem !== undefined)
  if (problems.length > 0) throw new Error(problems.join('; '))
  return trigger
}

const pathProblem = (path: string): string | undefined =>
  isAbsolute(path) ? undefined : `the path "${path}" of a watch must be absolute`
