import type { TriggerEvent } from '@scanfarm/engine'
import type { Json } from '@scanfarm/language'
import type { ExecutionPlan } from '@scanfarm/store'
import { planExecution, reasonOf, type PlanContext } from './plan-execution.ts'
import { waitsFor, wouldLoop } from './plan-event.ts'
import type { ReadyTrigger } from './trigger.ts'

export interface FilterResult {
  readonly expression: string
  readonly passed: boolean
  readonly result: Json
  /** Empty if it could be evaluated. */
  readonly error: string
}

/** What a trigger would do with an event. */
export interface TriggerTest {
  readonly topicMatches: boolean
  /** It ignores this event, because its runs would start it again and again. */
  readonly loops: boolean
  readonly filters: readonly FilterResult[]
  /** Undefined: the run cannot be planned, and `error` has the reason. */
  readonly plan: ExecutionPlan | undefined
  readonly error: string
}

const evaluated = async (
  { language }: PlanContext,
  expression: string,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<FilterResult> => {
  try {
    const result = await language.value(expression, event, signal)
    return { expression, result, passed: Boolean(result), error: '' }
  } catch (error) {
    return { expression, result: null, passed: false, error: reasonOf(error) }
  }
}

/** Evaluates every part of a trigger with an event, also those after a filter that fails. Starts and writes nothing. */
export async function testTrigger(
  parts: PlanContext,
  trigger: ReadyTrigger,
  event: TriggerEvent,
  signal: AbortSignal,
): Promise<TriggerTest> {
  const topicMatches = trigger.event === undefined || waitsFor(trigger.event, event.topic)
  const loops = trigger.event !== undefined && (await wouldLoop(parts, [trigger], event))(trigger)
  const filters: FilterResult[] = []
  for (const filter of trigger.event?.filters ?? [])
    filters.push(await evaluated(parts, filter, event, signal))
  const base = { topicMatches, loops, filters }
  try {
    return { ...base, plan: await planExecution(parts, trigger, event, signal), error: '' }
  } catch (error) {
    signal.throwIfAborted()
    return { ...base, plan: undefined, error: reasonOf(error) }
  }
}
