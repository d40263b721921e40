import { randomUUID } from 'node:crypto'
import type { EventPlan, EventDraft, ExecutionPlan } from '@scanfarm/store'
import type { TriggerEvent } from '@scanfarm/engine'
import { planExecution, reasonOf, type PlanContext } from './plan-execution.ts'
import { dataOf, type TriggerSet } from './trigger-registry.ts'
import { topicMatcher } from './topics.ts'
import type { EventRule, ReadyTrigger } from './trigger.ts'

/** Length limit of the combined error of all triggers in the event log. */
const MAX_ERROR_CHARS = 4_000

const matchers = new WeakMap<EventRule, (topic: string) => boolean>()

export const waitsFor = (rule: EventRule, topic: string): boolean => {
  const matches = matchers.get(rule) ?? topicMatcher(rule.topic)
  matchers.set(rule, matches)
  return matches(topic)
}

const ANY_GROUP = /^(?:$|[^.]*[*?[])/
const OF_A_RUN = /^(?:run|step)\.|^schedule\.triggered$/

/**
 * A broad topic like `*` does not match events from runs of the same workflow or from runs that an event started: each
 * run would start the next one.
 */
export const wouldLoop = async (
  { startedByEvent }: Pick<PlanContext, 'startedByEvent'>,
  waiting: readonly ReadyTrigger[],
  event: TriggerEvent,
): Promise<(trigger: ReadyTrigger) => boolean> => {
  const isWide = ({ event: rule }: ReadyTrigger): boolean => ANY_GROUP.test(rule?.topic ?? '')
  if (!OF_A_RUN.test(event.topic) || !waiting.some(isWide)) return () => false
  const byEvent = event.run_uuid !== '' && (await startedByEvent(event.run_uuid))
  return (trigger) => isWide(trigger) && (byEvent || trigger.workflow.name === event.workflow_name)
}

/** An event that no run writes. */
export const newEvent = (
  event: Pick<EventDraft, 'topic' | 'name' | 'source' | 'data_type' | 'data'> & Partial<EventDraft>,
): EventDraft => ({
  event_id: `evt_${randomUUID().replaceAll('-', '')}`,
  workspace: '',
  run_id: '',
  workflow_name: '',
  ...event,
})

export const triggerEvent = (event: EventDraft, timestamp: string): TriggerEvent => ({
  topic: event.topic,
  id: event.event_id,
  name: event.name,
  source: event.source,
  data_type: event.data_type,
  data: dataOf(event.data),
  workspace: event.workspace,
  run_uuid: event.run_id,
  workflow_name: event.workflow_name,
  timestamp,
})

/**
 * Plans the runs that an event starts. Writes nothing and never rejects: if a filter fails or times out, or a run
 * cannot be planned, the reason is in `error` and the other triggers continue.
 */
export async function planEvent(
  parts: PlanContext,
  { ready }: TriggerSet,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<EventPlan> {
  const matching = ready.filter(
    (trigger) => trigger.enabled && trigger.event !== undefined && waitsFor(trigger.event, event.topic),
  )
  const loops = await wouldLoop(parts, matching, event)
  const waiting = matching.filter((trigger) => !loops(trigger))
  const results = await Promise.all(waiting.map((trigger) => planForTrigger(parts, trigger, event, signal)))
  const errors = results.flatMap((result) => (typeof result === 'string' ? [result] : []))
  return {
    executions: results.filter((result) => typeof result === 'object'),
    error: errors.join('; ').slice(0, MAX_ERROR_CHARS),
  }
}

/** Undefined if the trigger does not want the event; a string if it failed. */
const planForTrigger = async (
  parts: PlanContext,
  trigger: ReadyTrigger,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<ExecutionPlan | string | undefined> => {
  try {
    for (const filter of trigger.event?.filters ?? [])
      if (!(await parts.language.value(filter, event, signal))) return undefined
    return await planExecution(parts, trigger, event, signal)
  } catch (error) {
    return `${trigger.key}: ${reasonOf(error)}`
  }
}
