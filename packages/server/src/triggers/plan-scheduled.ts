import { createHash } from 'node:crypto'
import type { EventDraft, ScheduledPlan } from '@scanfarm/store'
import { triggerEvent } from './plan-event.ts'
import { planExecution, reasonOf, type PlanContext } from './plan-execution.ts'
import type { ReadyTrigger } from './trigger.ts'

/** The cause of a scheduled execution: a time, a file or a request. */
export interface FireContext {
  /** Unique for the trigger, and equal on every master. */
  readonly fireKey: string
  readonly at: Date
  /** Added to the data of the event. */
  readonly data: Readonly<Record<string, string | number>>
}

/** The event `schedule.triggered` of a fire context; equal on every master. */
export const scheduledEvent = (trigger: ReadyTrigger, { fireKey, at, data }: FireContext): EventDraft => ({
  topic: 'schedule.triggered',
  event_id: `evt_${createHash('sha256').update(`${trigger.key}\n${fireKey}`).digest('hex').slice(0, 32)}`,
  name: trigger.name,
  source: 'scheduler',
  data_type: 'schedule',
  data: JSON.stringify({
    trigger: trigger.name,
    trigger_type: trigger.type,
    schedule_id: trigger.scheduleId,
    workflow: trigger.workflow.name,
    kind: trigger.workflow.kind,
    time: at.toISOString(),
    ...data,
  }),
  workspace: trigger.workspace,
  run_id: '',
  workflow_name: trigger.workflow.name,
})

/** Plans the execution of a trigger and its event. `error`: why it cannot be planned. Rejects when aborted. */
export async function planScheduled(
  parts: PlanContext,
  trigger: ReadyTrigger,
  fireContext: FireContext,
  signal: AbortSignal,
): Promise<ScheduledPlan> {
  const event = scheduledEvent(trigger, fireContext)
  const base = { fireKey: fireContext.fireKey, event }
  try {
    const about = triggerEvent(event, fireContext.at.toISOString())
    return { ...base, plan: await planExecution(parts, trigger, about, signal), error: '' }
  } catch (error) {
    signal.throwIfAborted()
    return { ...base, plan: undefined, error: `${trigger.key}: ${reasonOf(error)}` }
  }
}
