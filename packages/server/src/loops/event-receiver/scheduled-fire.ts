import { createHash } from 'node:crypto'
import type { EventDraft, ScheduledFire } from '@scanfarm/store'
import { triggerEvent } from './consequence.ts'
import { planFiring, reasonOf, type PlanParts } from './plan-firing.ts'
import type { ReadyTrigger } from './trigger.ts'

/** What a firing of the scheduler is about: the time, the file, or that somebody asked for it. */
export interface Occasion {
  /** Unique for the trigger; the same on every master. */
  readonly fireKey: string
  readonly at: Date
  /** Becomes part of the event's data. */
  readonly data: Readonly<Record<string, string | number>>
}

/** The event `schedule.triggered` of an occasion; the same on every master. */
export const scheduledEvent = (trigger: ReadyTrigger, { fireKey, at, data }: Occasion): EventDraft => ({
  topic: 'schedule.triggered',
  eventId: `evt_${createHash('sha256').update(`${trigger.key}\n${fireKey}`).digest('hex').slice(0, 32)}`,
  name: trigger.name,
  source: 'scheduler',
  dataType: 'schedule',
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
  runId: '',
  workflowName: trigger.workflow.name,
})

/** A firing with its event. A run that cannot be made is told in `error`; it never rejects for that. */
export async function scheduledFire(
  parts: PlanParts,
  trigger: ReadyTrigger,
  occasion: Occasion,
  signal: AbortSignal,
): Promise<ScheduledFire> {
  const event = scheduledEvent(trigger, occasion)
  const base = { fireKey: occasion.fireKey, event }
  try {
    const about = triggerEvent(event, occasion.at.toISOString())
    return { ...base, firing: await planFiring(parts, trigger, about, signal), error: '' }
  } catch (error) {
    signal.throwIfAborted()
    return { ...base, firing: undefined, error: `${trigger.key}: ${reasonOf(error)}` }
  }
}
