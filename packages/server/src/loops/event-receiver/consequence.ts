import type { Consequence, EventDraft, Firing } from '@scanfarm/store'
import type { TriggerEvent } from '@scanfarm/workflow'
import { planFiring, reasonOf, type PlanParts } from './plan-firing.ts'
import { dataOf, type TriggerSet } from './registry.ts'
import { topicMatcher } from './topics.ts'
import type { EventRule, ReadyTrigger } from './trigger.ts'

/** What is said in the event log of all triggers of one event together. */
const MAX_ERROR_CHARS = 4_000

const matchers = new WeakMap<EventRule, (topic: string) => boolean>()

const waitsFor = (rule: EventRule, topic: string): boolean => {
  const matches = matchers.get(rule) ?? topicMatcher(rule.topic)
  matchers.set(rule, matches)
  return matches(topic)
}

const ANY_GROUP = /^(?:$|[^.]*[*?[])/
const OF_A_RUN = /^(?:run|step)\.|^schedule\.triggered$/

/**
 * A topic such as `*` is not meant for what runs of the same workflow do, nor for what runs do that an event started:
 * each of them would start the next one.
 */
const wouldLoop = async (
  { startedByEvent }: Pick<PlanParts, 'startedByEvent'>,
  waiting: readonly ReadyTrigger[],
  event: TriggerEvent,
): Promise<(trigger: ReadyTrigger) => boolean> => {
  const isWide = ({ event: rule }: ReadyTrigger): boolean => ANY_GROUP.test(rule?.topic ?? '')
  if (!OF_A_RUN.test(event.topic) || !waiting.some(isWide)) return () => false
  const byEvent = event.run_uuid !== '' && (await startedByEvent(event.run_uuid))
  return (trigger) => isWide(trigger) && (byEvent || trigger.workflow.name === event.workflow_name)
}

export const triggerEvent = (event: EventDraft, timestamp: string): TriggerEvent => ({
  topic: event.topic,
  id: event.eventId,
  name: event.name,
  source: event.source,
  data_type: event.dataType,
  data: dataOf(event.data),
  workspace: event.workspace,
  run_uuid: event.runId,
  workflow_name: event.workflowName,
  timestamp,
})

/**
 * What follows from an event by the triggers there are. Nothing is written, and it never rejects: a trigger whose
 * filter throws or does not end, or whose run cannot be made, is told in `error` and does not stop the others.
 */
export async function consequenceOf(
  parts: PlanParts,
  { ready }: TriggerSet,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<Consequence> {
  const matching = ready.filter(
    (trigger) => trigger.enabled && trigger.event !== undefined && waitsFor(trigger.event, event.topic),
  )
  const loops = await wouldLoop(parts, matching, event)
  const waiting = matching.filter((trigger) => !loops(trigger))
  const results = await Promise.all(waiting.map((trigger) => firingOf(parts, trigger, event, signal)))
  const errors = results.flatMap((result) => (typeof result === 'string' ? [result] : []))
  return {
    firings: results.filter((result) => typeof result === 'object'),
    error: errors.join('; ').slice(0, MAX_ERROR_CHARS),
  }
}

/** Undefined when the trigger does not want the event; a text when it failed. */
const firingOf = async (
  parts: PlanParts,
  trigger: ReadyTrigger,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<Firing | string | undefined> => {
  try {
    for (const filter of trigger.event?.filters ?? [])
      if (!(await parts.language.value(filter, event, signal))) return undefined
    return await planFiring(parts, trigger, event, signal)
  } catch (error) {
    return `${trigger.key}: ${reasonOf(error)}`
  }
}
