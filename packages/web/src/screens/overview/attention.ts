import type { paths } from '@scanfarm/client'
import { hrefWith, plural } from '../../ui/index.ts'
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

const problem = (tone: Problem['tone'], text: string, action: string, href: string): Problem => ({
  tone,
  text,
  action,
  href,
})
/** The problem, if there is one. */
const one = (exists: boolean, ...parts: Parameters<typeof problem>): readonly Problem[] =>
  exists ? [problem(...parts)] : []

const unserved = ({ groups }: Queue): readonly Problem[] => {
  const those = groups.filter(isUnserved)
  const rest = those.slice(MOST_GROUPS).reduce((sum, { waiting }) => sum + waiting, 0)
  const texts = those
    .slice(0, MOST_GROUPS)
    .map(
      ({ waiting, priority, why }) =>
        `${plural(waiting, 'run')} of priority ${priority} cannot start: ${why}.`,
    )
  if (rest > 0) texts.push(`${plural(rest, 'more run')} cannot start.`)
  return texts.map((text) => problem('bad', text, 'See the queue', '/queue'))
}

const workers = ({ workers: { lost, live } }: Overview): readonly Problem[] => [
  ...one(
    live === 0,
    'bad',
    'No worker and no server with slots is live. Runs wait until one joins.',
    'See the workers',
    '/workers',
  ),
  ...one(
    lost > 0,
    'bad',
    `${plural(lost, 'worker')} stopped sending heartbeats. ${lost === 1 ? 'Its' : 'Their'} runs start again on other workers.`,
    'See lost workers',
    '/workers?status=lost',
  ),
]

const failing = ({ failing_workflows_24h }: Overview): readonly Problem[] =>
  failing_workflows_24h
    .filter(({ ended, failed }) => failed * 2 >= ended)
    .map(({ workflow_name: workflow, ended, failed }) => {
      const text = `${workflow}: ${failed.toLocaleString()} of ${plural(ended, 'run')} failed in the last 24 hours.`
      return problem('warn', text, 'See its failed runs', hrefWith('/runs', { workflow, status: 'failed' }))
    })

const budget = ({ cloud }: Overview): readonly Problem[] => [
  ...one(
    cloud.max_cost !== null && cloud.booked_cost >= cloud.max_cost * NEARLY,
    'warn',
    `Cloud machines have booked ${dollars(cloud.booked_cost)} of the ${dollars(cloud.max_cost)} limit. Requests beyond it are refused.`,
    'See the machines',
    '/cloud',
  ),
  ...one(
    cloud.enabled && cloud.machines >= cloud.max_machines * NEARLY,
    'warn',
    `${cloud.machines.toLocaleString()} of at most ${plural(cloud.max_machines, 'cloud machine')} exist.`,
    'See the machines',
    '/cloud',
  ),
]

/** What an operator should act on, the worst first. */
export const problemsOf = (overview: Overview, queue: Queue | undefined, dead = 0): readonly Problem[] => [
  ...(queue ? unserved(queue) : []),
  ...workers(overview),
  ...budget(overview),
  ...failing(overview),
  ...one(
    dead > 0,
    'warn',
    `${plural(dead, 'webhook delivery', 'webhook deliveries')} failed and will not be repeated.`,
    'Redeliver them',
    '/webhooks?tab=deliveries&status=dead',
  ),
]
