import { AppError, withoutPassword, type CreateRuns } from '@scanfarm/contracts'
import type { TriggerEvent, TriggerLanguage } from '@scanfarm/engine'
import { needsTarget, type Json } from '@scanfarm/language'
import { errorText } from '@scanfarm/platform'
import type { ExecutionPlan, Store } from '@scanfarm/store'
import type { Catalog, Pinned } from '../catalog/catalog.ts'
import { refuse } from '../http/refusal.ts'
import { chooseTargets } from '../submission/delta.ts'
import { fieldProblems } from '../submission/field-rules.ts'
import { planJob, withRequirements } from '../submission/plan-job.ts'
import { separate, type Scopes } from '../submission/scopes.ts'
import { targetOf, TargetList } from '../submission/target-list.ts'
import { workspaceFor } from '../submission/workspace-name.ts'
import type { ReadyTrigger } from './trigger.ts'

/** Maximum targets of one trigger execution. */
const MAX_TARGETS = 10_000

export interface PlanContext {
  readonly catalog: Pick<Catalog, 'pin'>
  readonly language: TriggerLanguage
  readonly master: boolean
  /** Names of the variables of the settings. */
  readonly operatorVariables: readonly string[]
  readonly scopes: Scopes
  readonly delta: Store['delta']
  /** Whether an event trigger started the run. */
  startedByEvent(runUuid: string): Promise<boolean>
  /** With its password; undefined for an unknown run. */
  targetOfRun(runUuid: string): Promise<string | undefined>
}

/** Plans the job that a trigger starts for an event. Rejects if it is invalid; writes nothing. */
export async function planExecution(
  parts: PlanContext,
  trigger: ReadyTrigger,
  received: TriggerEvent,
  signal: AbortSignal,
): Promise<ExecutionPlan> {
  const { catalog, language, master, operatorVariables } = parts
  const event = await withTarget(parts, received)
  const { target, ...inputs } = await inputsOf(language, trigger, event, signal)
  const { name, kind } = trigger.workflow
  const pinned = await catalog.pin(name, kind)
  const named = targetsOf(trigger, target ?? null, event, pinned)
  const body: CreateRuns = {
    [kind]: name,
    targets: named,
    params: paramsOf(trigger, inputs),
    run_mode: trigger.runMode ?? (master ? 'distributed' : 'local'),
    ...(trigger.priority === undefined ? {} : { priority: trigger.priority }),
    ...(trigger.workspace === '' ? {} : { workspace: trigger.workspace }),
    ...trigger.run,
  }
  refuse(fieldProblems(body))
  if (body.run_mode === 'distributed' && !master)
    throw new Error('its runs are distributed, but this server was started without --master')
  const keeper = await parts.scopes.keeperOf(body.scope, name)
  const drafts = named.map((one) => ({ target: one, workspace: body.workspace ?? workspaceFor(one, name) }))
  const { kept, refused } = separate(drafts, keeper)
  const plan = { ...planJob(body, pinned), scheduleId: trigger.scheduleId }
  const chosen = await chooseTargets(parts, body, plan, kept)
  const targets = (chosen?.drafts ?? kept).map((one) => one.target)
  const draft = await withRequirements(plan, pinned, { targets, operatorVariables, needs: keeper.needs() })
  return {
    triggerKey: trigger.key,
    overlap: trigger.overlap,
    dedupe: trigger.event?.dedupe && {
      key: language.text(trigger.event.dedupe.key, event),
      windowMs: trigger.event.dedupe.windowMs,
    },
    draft: {
      ...draft,
      scopeNo: keeper.scopeNo,
      ...(refused.length > 0 && {
        refused: { count: refused.length, listed: refused, place: 'trigger' as const },
      }),
      ...(chosen && { delta: chosen.delta }),
      triggerType: trigger.type,
      triggerName: trigger.name,
      eventEnvelope: JSON.stringify({ ...event, data_raw: JSON.stringify(event.data) }),
    },
    targets: chosen?.drafts ?? kept,
  }
}

/** Events of runs are written without the passwords of their targets; the runs that they start need them. */
const withTarget = async (
  { targetOfRun }: Pick<PlanContext, 'targetOfRun'>,
  event: TriggerEvent,
): Promise<TriggerEvent> => {
  const { target: masked } = event.data
  if (event.run_uuid === '' || typeof masked !== 'string' || !masked.includes(':***@')) return event
  const target = await targetOfRun(event.run_uuid)
  return target !== undefined && withoutPassword(target) === masked
    ? { ...event, data: { ...event.data, target } }
    : event
}

/** The message of an error, with all fields of an `AppError`. */
export const reasonOf = (error: unknown): string => {
  if (error instanceof AppError && error.details.length > 0)
    return error.details.map(({ path, message }) => `${path.slice(1)}: ${message}`).join(', ')
  return errorText(error)
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

/** Inputs that the event lacks fall back to the schedule, and then to "", for which the workflow uses its defaults. */
const paramsOf = (
  { params }: ReadyTrigger,
  inputs: Readonly<Record<string, Json>>,
): Record<string, string> => ({
  ...params,
  ...Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [
      name,
      value === null ? (params[name] ?? '') : textOf(value),
    ]),
  ),
})

/**
 * The distinct targets: from the trigger, then the schedule, then the event. If there are none, the run has no target
 * if its workflow allows that.
 */
const targetsOf = (
  trigger: ReadyTrigger,
  mapped: Json,
  { data }: TriggerEvent,
  { resolved }: Pinned,
): string[] => {
  const own = Object.hasOwn(data, 'target') ? (data['target'] ?? null) : null
  const fixed = trigger.targets.length > 0 ? [...trigger.targets] : trigger.target
  const named = mapped ?? (fixed === '' ? own : fixed)
  const texts = (Array.isArray(named) ? named : named === null ? [] : [named]).map(textOf)
  if (texts.every((text) => targetOf(text) === undefined) && !needsTarget(resolved)) return ['']
  const list = new TargetList({ maxTargets: MAX_TARGETS, maxInMemory: MAX_TARGETS })
  for (const text of texts) list.add(text, () => ({ path: '/target', prefix: '' }))
  return [...(list.finish('target').targets ?? [])]
}
