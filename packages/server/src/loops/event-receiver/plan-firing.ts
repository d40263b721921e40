import { AppError, type CreateRuns } from '@scanfarm/contracts'
import type { Firing } from '@scanfarm/store'
import type { Json, TriggerEvent, TriggerLanguage } from '@scanfarm/workflow'
import type { Catalog } from '../../catalog/catalog.ts'
import { refuse } from '../../http/field-refusal.ts'
import { fieldProblems } from '../../submission/field-rules.ts'
import { planJob } from '../../submission/plan-job.ts'
import { TargetList } from '../../submission/target-list.ts'
import { workspaceOf } from '../../submission/workspace-name.ts'
import type { ReadyTrigger } from './trigger.ts'

/** Targets that one firing may name. */
const MAX_TARGETS = 10_000

export interface PlanParts {
  readonly catalog: Pick<Catalog, 'pin'>
  readonly language: TriggerLanguage
  readonly master: boolean
}

/** The job that a trigger makes of an event. Rejects with what is wrong with it; nothing is written. */
export async function planFiring(
  { catalog, language, master }: PlanParts,
  trigger: ReadyTrigger,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<Firing> {
  const { target, ...inputs } = await inputsOf(language, trigger, event, signal)
  const targets = targetsOf(trigger, target ?? null, event)
  const { name, kind } = trigger.workflow
  const body: CreateRuns = {
    [kind]: name,
    targets,
    params: { ...trigger.params, ...textsOf(inputs) },
    run_mode: trigger.runMode ?? (master ? 'distributed' : 'local'),
    ...(trigger.priority === undefined ? {} : { priority: trigger.priority }),
    ...(trigger.workspace === '' ? {} : { workspace: trigger.workspace }),
  }
  refuse(fieldProblems(body))
  if (body.run_mode === 'distributed' && !master)
    throw new Error('its runs are distributed, and this server was started without --master')
  const draft = planJob(body, await catalog.pin(name, kind))
  return {
    triggerKey: trigger.key,
    overlap: trigger.overlap,
    dedupe: trigger.event?.dedupe && {
      key: language.text(trigger.event.dedupe.key, event),
      windowMs: trigger.event.dedupe.windowMs,
    },
    draft: {
      ...draft,
      triggerType: trigger.type,
      triggerName: trigger.name,
      scheduleId: trigger.scheduleId,
      eventEnvelope: JSON.stringify({ ...event, data_raw: JSON.stringify(event.data) }),
    },
    targets: targets.map((one) => ({ target: one, workspace: body.workspace ?? workspaceOf(one) })),
  }
}

/** What people read of a refusal: every field with its own message. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AppError && error.details.length > 0)
    return error.details.map(({ path, message }) => `${path.slice(1)}: ${message}`).join(', ')
  return error instanceof Error ? error.message : String(error)
}

const inputsOf = async (
  language: TriggerLanguage,
  { input }: ReadyTrigger,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<Record<string, Json>> => {
  const values: [string, Json][] = []
  for (const [name, expression] of Object.entries(input))
    values.push([name, await language.input(expression, event, signal)])
  return Object.fromEntries(values)
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** What the event does not have is left to the defaults of the workflow. */
const textsOf = (inputs: Readonly<Record<string, Json>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(inputs).flatMap(([name, value]) => (value === null ? [] : [[name, textOf(value)]])),
  )

/** What the trigger says, or else the schedule, or else the event itself; each target once, all of them checked. */
const targetsOf = (trigger: ReadyTrigger, mapped: Json, { data }: TriggerEvent): string[] => {
  const own = Object.hasOwn(data, 'target') ? (data['target'] ?? null) : null
  const named = mapped ?? (trigger.target === '' ? own : trigger.target)
  const list = new TargetList({ maxTargets: MAX_TARGETS, maxHeld: MAX_TARGETS })
  for (const one of Array.isArray(named) ? named : named === null ? [] : [named])
    list.add(textOf(one), () => ({ path: '/target', prefix: '' }))
  return [...(list.finish('target').targets ?? [])]
}
