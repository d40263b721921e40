import { EventReceiverStatus, ReceiverWorkflow, type ReceiverTrigger } from '@scanfarm/contracts'
import { Type, type Static } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { route } from '../../http/route.ts'
import { upcomingTime } from '../../triggers/cron-times.ts'
import type { BrokenTrigger, ReadyTrigger } from '../../triggers/trigger.ts'
import { takesLocalRuns } from '../../submission/plan-job.ts'
import { isEstablished } from '../runs/established-runs.ts'
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

/** What the answer below `/osm/api` has in addition, as clients of Osmedeus read it. */
const Established = Type.Object({
  workflows: Type.Array(
    Type.Object({
      name: Type.String(),
      kind: Type.String(),
      description: Type.String(),
      triggers: Type.Array(Type.String(), { description: 'Names' }),
    }),
    { description: 'Only below /osm/api, like triggers' },
  ),
  triggers: Type.Array(
    Type.Object({
      workflow_name: Type.String(),
      trigger_name: Type.String(),
      topic: Type.String({ description: '"" unless it waits for events' }),
      enabled: Type.Boolean(),
    }),
  ),
})

const established = async (
  { catalog }: Pick<ServerContext, 'catalog'>,
  data: readonly ReceiverWorkflow[],
): Promise<Static<typeof Established>> => {
  const texts = new Map((await catalog.list()).map(({ name, description }) => [name, description]))
  return {
    workflows: data.map(({ name, kind, triggers }) => ({
      name,
      kind,
      description: texts.get(name) ?? '',
      triggers: triggers.map((trigger) => trigger.name),
    })),
    triggers: data.flatMap(({ name, triggers }) =>
      triggers.map((trigger) => ({
        workflow_name: name,
        trigger_name: trigger.name,
        topic: trigger.topic ?? '',
        enabled: trigger.enabled,
      })),
    ),
  }
}

export const eventReceiverWorkflows = route(
  {
    endpoint: 'GET /event-receiver/workflows',
    summary: 'List the workflows that have triggers',
    role: 'viewer',
    responses: {
      200: Type.Object({
        data: Type.Array(ReceiverWorkflow),
        count: Type.Integer({ minimum: 0 }),
        ...Type.Partial(Established).properties,
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
    return isEstablished(http.root) ? { ...answer, ...(await established(context, data)) } : answer
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
