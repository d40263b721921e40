import { canServe, needsOf, Priority, PRIORITY_RANK, QueuePlace, RunMode, TOOL } from '@scanfarm/contracts'
import { COUNTED_BEFORE, missingFor, type Offers, type OpenWorker, type WaitingGroup } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import { route } from '../../http/route.ts'
import { namesOf } from '../../submission/missing-tools.ts'
import { RunPath } from '../runs/read-runs.ts'
import { found } from '../../http/refusal.ts'

const Count = Type.Integer({ minimum: 0 })
const OldestAt = Type.Union([Type.String({ format: 'date-time' }), Type.Null()], {
  description: 'When the oldest of these runs was created; null: there is none',
})

export const Depth = Type.Object({
  priority: Priority,
  waiting: Count,
  oldest_at: OldestAt,
})

const Group = Type.Object({
  run_mode: RunMode,
  priority: Priority,
  needs: Type.Array(Type.String(), { description: 'Capabilities that a worker must have' }),
  needs_text: Type.String({ description: 'The needs in words' }),
  infra_id: Type.String({ description: 'Infrastructure of cloud runs, or ""' }),
  waiting: Count,
  held: Type.Integer({ minimum: 0, description: 'Of these, runs that wait for a slot of their job' }),
  suspects: Type.Integer({
    minimum: 0,
    description: 'Of these, runs that lost a worker before: a worker starts one of them at a time',
  }),
  oldest_at: OldestAt,
  workers: Type.Array(Type.Object({ id: Type.String(), name: Type.String(), free_slots: Count }), {
    description: 'Workers that can take these runs; at most 10, those with free slots first',
  }),
  worker_count: Type.Integer({
    minimum: 0,
    description:
      'Workers that can take these runs, of the first 1,000 by name. Always 0 for local and cloud runs',
  }),
  why: Type.String({ description: 'Why they wait' }),
})

/** Groups of an answer. */
const MAX_GROUPS = 500
const NAMED_WORKERS = 10

/** The number of waiting runs and the oldest of them, by priority, the most urgent first. */
export const depthsOf = (groups: readonly WaitingGroup[]): Static<typeof Depth>[] =>
  (Object.keys(PRIORITY_RANK) as Priority[]).map((priority) => {
    const those = groups.filter((group) => group.priority === priority)
    return { priority, waiting: sum(those.map(({ waiting }) => waiting)), oldest_at: oldestOf(those) }
  })

const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)

export const oldestOf = (groups: readonly { readonly oldest_at: string }[]): string | null =>
  groups.map(({ oldest_at }) => oldest_at).toSorted((a, b) => Date.parse(a) - Date.parse(b))[0] ?? null

/** `docker, the label region=eu, the programs ffuf and nmap` */
const inWords = (needs: readonly string[]): string => {
  const tools = needs.filter((need) => need.startsWith(TOOL))
  const others = needs.filter((need) => !tools.includes(need))
  const programs = `the ${tools.length === 1 ? 'program' : 'programs'} ${namesOf(tools)}`
  return [
    ...others.map((need) => need.replace(/^label:(?=.)/, 'the label ')),
    ...(tools.length === 0 ? [] : [programs]),
  ].join(', ')
}

const whyOf = (group: WaitingGroup, free: number, able: number, offers: Offers): string => {
  const { infra_id: infra, infra_status: status } = group
  if (infra !== null && status !== 'ready') return `waiting for infrastructure ${infra} (${status ?? ''})`
  const missing = missingFor(group.run_mode, group.requirement_class, offers)
  if (missing !== undefined) return missing
  if (group.held === group.waiting) return 'waiting for slots of their jobs'
  if (group.run_mode === 'local') return 'waiting for a local slot'
  if (group.run_mode === 'cloud') return 'waiting for a free machine'
  return free > 0
    ? 'being handed to workers'
    : `all slots of the ${able === 1 ? 'worker' : `${able} workers`} that can take them are in use`
}

const groupBody = (
  group: WaitingGroup,
  workers: readonly OpenWorker[],
  offers: Offers,
): Static<typeof Group> => {
  const needs = needsOf(group.requirement_class)
  const isDistributed = group.run_mode === 'distributed'
  const able = isDistributed ? workers.filter(({ capabilities }) => canServe(capabilities, needs)) : []
  const free = sum(able.map(({ free_slots }) => free_slots))
  const { run_mode, priority, waiting, held, suspects, oldest_at } = group
  return {
    run_mode,
    priority,
    needs,
    waiting,
    held,
    suspects,
    oldest_at,
    needs_text: needs.length === 0 ? 'nothing in particular' : inWords(needs),
    infra_id: group.infra_id ?? '',
    workers: able
      .toSorted((a, b) => b.free_slots - a.free_slots)
      .slice(0, NAMED_WORKERS)
      .map(({ id, name, free_slots }) => ({ id, name, free_slots })),
    worker_count: able.length,
    why: whyOf(group, free, able.length, offers),
  }
}

export const readQueue = route(
  {
    endpoint: 'GET /queue',
    summary: 'Read how many runs wait, for how long, for which workers, and why',
    description:
      'Groups of queued runs with the same priority, run mode and needs, the most urgent and oldest first; at most 500 groups. Counts above 10,000 may be up to 30 seconds old.',
    role: 'viewer',
    responses: {
      200: Type.Object({
        waiting: Count,
        oldest_at: OldestAt,
        by_priority: Type.Array(Depth),
        groups: Type.Array(Group),
        truncated: Type.Boolean({
          description: 'There are more than 500 groups; the totals contain them all',
        }),
      }),
    },
  },
  async ({ store }) => {
    const [groups, workers, offers] = await Promise.all([
      store.figures.waiting(),
      store.figures.openWorkers(),
      store.figures.offers(),
    ])
    return {
      waiting: sum(groups.map(({ waiting }) => waiting)),
      oldest_at: oldestOf(groups),
      by_priority: depthsOf(groups),
      groups: groups.slice(0, MAX_GROUPS).map((group) => groupBody(group, workers, offers)),
      truncated: groups.length > MAX_GROUPS,
    }
  },
)

export const readQueuePlace = route(
  {
    endpoint: 'GET /runs/{id}/queue',
    summary: 'Read the place of a waiting run in the queue',
    description: `Runs with a higher priority start first, then older ones; a run that waits for a slot of its job is overtaken. At most ${COUNTED_BEFORE.toLocaleString('en')} older runs are counted. Counts of a large queue may be up to 30 seconds old. Why the run waits is in \`waiting_reason\` of the run.`,
    role: 'viewer',
    params: RunPath,
    responses: {
      200: Type.Object({
        data: Type.Union([QueuePlace, Type.Null()], { description: 'Null: the run is not queued' }),
      }),
    },
  },
  async ({ store }, { params }) => {
    const data = found('run', params.id, await store.runs.queuePlace(params.id))
    return { data }
  },
)
