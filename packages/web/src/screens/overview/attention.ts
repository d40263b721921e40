import type { paths } from '@scanfarm/client'
import { plural } from '../../ui/index.ts'
import { dollars } from '../cloud/cost.ts'

type Answer<P extends '/stats/overview' | '/queue'> =
  paths[P]['get']['responses'][200]['content']['application/json']
export type Overview = Answer<'/stats/overview'>
export type Queue = Answer<'/queue'>
type Group = Queue['groups'][number]

export interface Problem {
  readonly tone: 'bad' | 'warn'
  readonly text: string
  /** What to do about it. */
  readonly action: string
  readonly href: string
}

/** Classes of waiting runs that are named one by one. */
const MOST_GROUPS = 3
/** The share of a limit that counts as nearly used. */
const NEARLY = 0.8

/** No process of the farm can take these runs. The API has no field for it in the other run modes. */
export const isUnserved = ({ run_mode, worker_count, why }: Group): boolean =>
  run_mode === 'distributed' ? worker_count === 0 : /^(no live server|the .* slots of every server)/.test(why)

const unserved = ({ groups }: Queue): Problem[] => {
  const those = groups.filter(isUnserved)
  const rest = those.slice(MOST_GROUPS).reduce((sum, { waiting }) => sum + waiting, 0)
  return [
    ...those.slice(0, MOST_GROUPS).map(({ waiting, priority, why }): Problem => ({
      tone: 'bad',
      text: `${plural(waiting, 'run')} of priority ${priority} cannot start: ${why}.`,
      action: 'See the queue',
      href: '/queue',
    })),
    ...(rest === 0
      ? []
      : [
          {
            tone: 'bad' as const,
            text: `${plural(rest, 'more run')} cannot start.`,
            action: 'See the queue',
            href: '/queue',
          },
        ]),
  ]
}

const lost = ({ workers }: Overview): Problem[] =>
  workers.lost === 0
    ? []
    : [
        {
          tone: 'bad',
          text: `${plural(workers.lost, 'worker')} stopped sending heartbeats. ${workers.lost === 1 ? 'Its' : 'Their'} runs start again on other workers.`,
          action: 'See lost workers',
          href: '/workers?status=lost',
        },
      ]

const absent = ({ workers }: Overview): Problem[] =>
  workers.live > 0
    ? []
    : [
        {
          tone: 'bad',
          text: 'No worker and no server with slots is live. Runs wait until one joins.',
          action: 'See the workers',
          href: '/workers',
        },
      ]

const failing = ({ failing_workflows_24h }: Overview): Problem[] =>
  failing_workflows_24h
    .filter(({ ended, failed }) => failed * 2 >= ended)
    .map(({ workflow_name, ended, failed }) => ({
      tone: 'warn',
      text: `${workflow_name}: ${failed.toLocaleString()} of ${plural(ended, 'run')} failed in the last 24 hours.`,
      action: 'See its failed runs',
      href: `/runs?${new URLSearchParams({ workflow: workflow_name, status: 'failed' }).toString()}`,
    }))

const budget = ({ cloud }: Overview): Problem[] => {
  const used: Problem[] = []
  if (cloud.max_cost !== null && cloud.booked_cost >= cloud.max_cost * NEARLY)
    used.push({
      tone: 'warn',
      text: `Cloud machines have booked ${dollars(cloud.booked_cost)} of the ${dollars(cloud.max_cost)} limit. Requests beyond it are refused.`,
      action: 'See the machines',
      href: '/cloud',
    })
  if (cloud.enabled && cloud.machines >= cloud.max_machines * NEARLY)
    used.push({
      tone: 'warn',
      text: `${cloud.machines.toLocaleString()} of at most ${plural(cloud.max_machines, 'cloud machine')} exist.`,
      action: 'See the machines',
      href: '/cloud',
    })
  return used
}

const dead = (deliveries: number): Problem[] =>
  deliveries === 0
    ? []
    : [
        {
          tone: 'warn',
          text: `${plural(deliveries, 'webhook delivery', 'webhook deliveries')} failed and will not be repeated.`,
          action: 'Redeliver them',
          href: '/webhooks?tab=deliveries&status=dead',
        },
      ]

/** What an operator should act on, the worst first. */
export const problemsOf = (overview: Overview, queue: Queue | undefined, deadDeliveries = 0): Problem[] => [
  ...(queue ? unserved(queue) : []),
  ...absent(overview),
  ...lost(overview),
  ...budget(overview),
  ...failing(overview),
  ...dead(deadDeliveries),
]
