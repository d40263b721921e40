import { isAbsolute } from 'node:path'
import {
  paramProblem,
  paramsProblems,
  targetProblem,
  workspaceProblem,
  type FieldError,
  type WorkflowKind,
} from '@scanfarm/contracts'
import { FUNCTIONS } from '@scanfarm/functions'
import {
  cronProblem,
  filterProblem,
  inputProblem,
  parseDuration,
  templateProblem,
  type Json,
  type Param,
  type Trigger,
} from '@scanfarm/language'
import { errorText } from '@scanfarm/platform'
import type { StoredSchedule } from '@scanfarm/store'
import { problemAt } from '../http/refusal.ts'
import { topicProblem } from './topics.ts'
import { delayOf, MAX_JITTER_MS } from './cron-times.ts'
import {
  DEDUPE_WINDOW_MS,
  MISSED_WINDOW_MS,
  SETTLE_MS,
  type BrokenTrigger,
  type CronRule,
  type ReadyTrigger,
} from './trigger.ts'

interface Owner {
  readonly name: string
  readonly kind: WorkflowKind
  readonly workflow?: { readonly params?: readonly Param[] } | undefined
}

export type ReadTrigger = ReadyTrigger | BrokenTrigger

/** Reads a trigger of a workflow file; undefined for manual triggers, which only allow or forbid manual starts. */
export const triggerOfFile = (workflow: Owner, trigger: Trigger, index: number): ReadTrigger | undefined => {
  if (trigger.on === undefined || trigger.on === 'manual') return undefined
  const name = trigger.name ?? `trigger ${index + 1}`
  const { kind } = workflow
  const key = `${kind}/${workflow.name}#${trigger.name ?? index + 1}`
  const base = {
    name,
    type: trigger.on,
    enabled: trigger.enabled ?? false,
    workflow: { name: workflow.name, kind },
    scheduleId: '',
  }
  try {
    return checked({
      ...base,
      key,
      ...inputOf(trigger.input ?? {}, workflow.workflow?.params ?? []),
      targets: [],
      workspace: '',
      overlap: trigger.overlap ?? 'allow',
      runMode: trigger.run_mode,
      priority: undefined,
      run: {},
      cron: trigger.on === 'cron' ? cronOf(key, trigger) : undefined,
      event: trigger.on === 'event' ? eventOf(trigger) : undefined,
      watch:
        trigger.on === 'watch'
          ? { path: trigger.path ?? '', settleMs: durationOf('debounce', trigger.debounce, SETTLE_MS) }
          : undefined,
    })
  } catch (error) {
    return broken(base, error)
  }
}

/** All problems of a trigger, by the fields of a schedule. */
class TriggerError extends Error {
  readonly fields: readonly FieldError[]

  constructor(fields: readonly FieldError[]) {
    super(fields.map(({ message }) => message).join('; '))
    this.fields = fields
  }
}

const broken = (base: Omit<BrokenTrigger, 'problem' | 'fields'>, error: unknown): BrokenTrigger => ({
  ...base,
  problem: errorText(error),
  fields: error instanceof TriggerError ? error.fields : [],
})

/** Throws if it is too long. */
const jitterOf = (text: string | undefined): number => {
  const ms = durationOf('jitter', text, 0)
  if (ms > MAX_JITTER_MS) throw new Error(`jitter: "${text}" is longer than 24h`)
  return ms
}

const cronOf = (key: string, trigger: Trigger) => ({
  schedule: trigger.schedule ?? '',
  timezone: trigger.timezone ?? 'UTC',
  missed: trigger.missed ?? 'once',
  missedWindowMs: durationOf('missed_window', trigger.missed_window, MISSED_WINDOW_MS),
  delayMs: delayOf(key, jitterOf(trigger.jitter)),
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

type Inputs = Pick<ReadyTrigger, 'input' | 'params' | 'target'>

/** An input with a constant value. */
const fixed = (name: string, value: string): Inputs =>
  name === 'target'
    ? { input: {}, params: {}, target: value }
    : { input: {}, params: { [name]: value }, target: '' }

const textOf = (value: Json | undefined): string =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value)

const inputName = (name: Json | undefined): string =>
  typeof name !== 'string' || name === '' || name === 'Target' ? 'target' : name

/** The older forms with one value, for example `{type: event_data, field, name}`. Undefined for other forms. */
const olderInput = (input: Readonly<Record<string, Json>>, params: readonly Param[]): Inputs | undefined => {
  const { type, name, field, path, function: call } = input
  const none = { params: {}, target: '' }
  switch (type) {
    case 'event_data':
      return {
        ...none,
        input: { [inputName(name)]: textOf(field) === '' ? '' : `event_data.${textOf(field)}` },
      }
    case 'function':
      return { ...none, input: { [inputName(name)]: textOf(call) } }
    case 'file':
      return fixed(inputName(name), textOf(path))
    case 'param': {
      // The param target needs no default: the run has its target.
      const own = params.find((param) => param.name === name)?.default
      return { ...none, input: {}, target: inputName(name) === 'target' ? '' : textOf(own) }
    }
    default:
      return undefined
  }
}

const OLDER_KEYS = new Set(['type', 'name', 'field', 'path', 'function'])

/** `{param: expression}`, or one of the older forms. */
const inputOf = (input: Readonly<Record<string, Json>>, params: readonly Param[]): Inputs => {
  const older = Object.keys(input).every((key) => OLDER_KEYS.has(key)) ? olderInput(input, params) : undefined
  const expressions = Object.entries(input).map(([key, value]) => [inputKey(key), textOf(value)] as const)
  return older ?? { input: Object.fromEntries(expressions), params: {}, target: '' }
}

const inputKey = (key: string): string => (key === 'Target' ? 'target' : key)

/** Reads a schedule as a trigger. */
export const triggerOfSchedule = (schedule: StoredSchedule): ReadTrigger => {
  const { spec } = schedule
  const workflow = { name: schedule.workflow_name, kind: schedule.workflow_kind }
  const { id: scheduleId, name, trigger_type: type, is_enabled: enabled } = schedule
  const base = { name, type, enabled, workflow, scheduleId }
  try {
    return checked({
      ...base,
      key: schedule.id,
      input: spec.input ?? {},
      params: schedule.params,
      target: schedule.target,
      targets: spec.targets ?? [],
      workspace: schedule.workspace,
      overlap: spec.overlap ?? 'allow',
      runMode: spec.runMode,
      priority: spec.priority,
      run: spec.run ?? {},
      cron:
        type === 'cron'
          ? {
              schedule: schedule.schedule,
              timezone: spec.timezone ?? 'UTC',
              missed: spec.missed ?? 'once',
              missedWindowMs: spec.missedWindowMs ?? MISSED_WINDOW_MS,
              delayMs: delayOf(schedule.id, spec.jitterMs ?? 0),
            }
          : undefined,
      event:
        type === 'event'
          ? {
              topic: schedule.event_topic,
              filters: spec.filters ?? [],
              dedupe:
                spec.dedupeKey === undefined
                  ? undefined
                  : { key: spec.dedupeKey, windowMs: spec.dedupeWindowMs ?? DEDUPE_WINDOW_MS },
            }
          : undefined,
      watch:
        type === 'watch' ? { path: schedule.watch_path, settleMs: spec.settleMs ?? SETTLE_MS } : undefined,
    })
  } catch (error) {
    return broken(base, error)
  }
}

/** Throws with all problems that can be found before the first execution. */
const checked = (trigger: ReadyTrigger): ReadyTrigger => {
  const { cron, event, watch, input, params, target, targets, workspace } = trigger
  const fields = [
    ...(cron === undefined ? [] : cronProblems(cron)),
    ...(event === undefined ? [] : problemAt('/event_topic', topicProblem(event.topic))),
    ...(watch === undefined ? [] : problemAt('/watch_path', pathProblem(watch.path))),
    ...(event?.filters ?? []).flatMap((filter, index) =>
      problemAt(`/filters/${index}`, filterProblem(filter, FUNCTIONS)),
    ),
    ...(event?.dedupe === undefined ? [] : problemAt('/dedupe_key', templateProblem(event.dedupe.key))),
    ...Object.entries(input).flatMap(([name, text]) =>
      problemAt(`/input/${name}`, inputProblem(text, FUNCTIONS)),
    ),
    ...paramsProblems(params),
    ...paramsProblems(input, '/input').map(({ path, message }) => ({ path, message: `input: ${message}` })),
    ...Object.entries(params).flatMap(([name, value]) => problemAt(`/params/${name}`, paramProblem(value))),
    ...(target === '' ? [] : problemAt('/target', targetProblem(target))),
    ...targets.flatMap((one, index) =>
      problemAt(`/targets/${index}`, one === '' ? undefined : targetProblem(one)),
    ),
    ...(workspace === '' ? [] : problemAt('/workspace', workspaceProblem(workspace))),
  ]
  if (fields.length > 0) throw new TriggerError(fields)
  return trigger
}

const cronProblems = ({ schedule, timezone }: CronRule): FieldError[] => {
  const message = cronProblem(schedule, timezone)
  if (message === undefined) return []
  const isZone = cronProblem(schedule, 'UTC') === undefined
  return [{ path: isZone ? '/timezone' : '/schedule', message }]
}

const pathProblem = (path: string): string | undefined =>
  isAbsolute(path) ? undefined : `the watch path "${path}" must be absolute`
