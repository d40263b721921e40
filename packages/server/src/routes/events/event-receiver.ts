import { EventReceiverStatus, ReceiverWorkflow, type ReceiverTrigger } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { upcomingTime } from '../../triggers/cron-times.ts'
import type { BrokenTrigger, ReadyTrigger } from '../../triggers/trigger.ts'
import { takesLocalRuns } from '../../submission/plan-job.ts'
import { isEstablished } from '../../compat/runs.ts'
import { EstablishedTriggers, establishedTriggers } from '../../compat/triggers.ts'
import { refuseWithoutReceiver } from './emit-event.ts'

export const eventReceiverStatus = route(
  {
    endpoint: 'GET /event-receiver/status',
    summary: 'Read the state of the event receiver',
    role: 'viewer',
    responses: { 200: EventReceiverStatus },
    errors: ['unavailable'],
  },
  async ({ receiver, store }) => {
    refuseWithoutReceiver(receiver)
    const [{ ready, workflows }, last] = await Promise.all([
      receiver.registry.current(),
      store.triggers.lastEventAt(),
    ])
    const count = (type: ReadyTrigger['type']): number =>
      ready.filter((trigger) => trigger.enabled && trigger.type === type).length
    const triggers = { cron: count('cron'), event: count('event'), watch: count('watch') }
    return {
      enabled: receiver.enabled,
      running: receiver.running,
      triggers,
      workflows_loaded: workflows.length,
      workflow_count: workflows.length,
      trigger_count: triggers.cron + triggers.event + triggers.watch,
      last_event_at: last,
    }
  },
)

export const eventReceiverWorkflows = route(
  {
    endpoint: 'GET /event-receiver/workflows',
    summary: 'List the workflows that have triggers',
    role: 'viewer',
    responses: {
      200: Type.Object({
        data: Type.Array(ReceiverWorkflow),
        count: Type.Integer({ minimum: 0 }),
        ...Type.Partial(EstablishedTriggers).properties,
      }),
    },
    errors: ['unavailable'],
  },
  async (context, { http }) => {
    const { receiver, store, master } = context
    refuseWithoutReceiver(receiver)
    const { ready, broken } = await receiver.registry.current()
    const takesLocal = await takesLocalRuns(context)
    const waits = ({ runMode = master ? 'distributed' : 'local' }: ReadyTrigger): boolean =>
      runMode === 'local' && !takesLocal
    const clocks = await store.triggers.clocks(ready.flatMap(({ key, cron }) => (cron ? [key] : [])))
    const triggers = [
      ...ready.map((trigger) => ({
        workflow: trigger.workflow,
        shown: {
          ...readyTrigger(trigger, clocks.get(trigger.key)),
          ...(waits(trigger) ? { problem: NO_LOCAL_SLOTS } : {}),
        },
      })),
      ...broken.map((trigger) => ({ workflow: trigger.workflow, shown: brokenTrigger(trigger) })),
    ]
    const groups = Map.groupBy(triggers, ({ workflow: { name, kind } }) => `${name}\n${kind}`)
    const data = [...groups.values()].flatMap((group) => {
      const [first] = group
      if (first === undefined) return []
      const { name, kind } = first.workflow
      return [{ name, kind, triggers: group.map(({ shown }) => shown) }]
    })
    data.sort((a, b) => a.name.localeCompare(b.name) || a.kind.localeCompare(b.kind))
    const answer = { data, count: data.length }
    return isEstablished(http.root) ? { ...answer, ...(await establishedTriggers(context, data)) } : answer
  },
)

const NO_LOCAL_SLOTS =
  'its runs are local and wait until a live server has local slots: set local.slots to 1 or more, or run_mode to distributed'

const readyTrigger = (trigger: ReadyTrigger, decidedUntil: Date | undefined): ReceiverTrigger => {
  const { name, type, enabled, cron, event, watch, scheduleId } = trigger
  return {
    name,
    type,
    enabled,
    ...(cron && {
      schedule: cron.schedule,
      timezone: cron.timezone,
      next_run: upcomingTime(cron, decidedUntil),
    }),
    ...(event && { topic: event.topic }),
    ...(watch && { path: watch.path }),
    ...(scheduleId === '' ? {} : { schedule_id: scheduleId }),
  }
}

const brokenTrigger = ({ name, type, enabled, problem }: BrokenTrigger): ReceiverTrigger => ({
  name,
  type,
  enabled,
  problem,
})
