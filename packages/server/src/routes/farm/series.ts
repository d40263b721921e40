import { budgetOf } from '@scanfarm/cloud'
import {
  closed,
  CloudFigures,
  FailingWorkflow,
  PRIORITY_RANK,
  RunStatus,
  SEVERITIES,
  WorkerFigures,
} from '@scanfarm/contracts'
import type { SeriesKind, SeriesPoint } from '@scanfarm/store'
import { Type, type TSchema } from 'typebox'
import { route } from '../../http/route.ts'
import { Depth, depthsOf } from './queue.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Length and bucket of each range: 60 to 120 buckets. */
const RANGES = {
  '1h': { ms: HOUR_MS, bucketMs: MINUTE_MS },
  '6h': { ms: 6 * HOUR_MS, bucketMs: 5 * MINUTE_MS },
  '24h': { ms: DAY_MS, bucketMs: 15 * MINUTE_MS },
  '7d': { ms: 7 * DAY_MS, bucketMs: 2 * HOUR_MS },
  '30d': { ms: 30 * DAY_MS, bucketMs: 6 * HOUR_MS },
} as const

const ENDED = ['completed', 'failed', 'cancelled'] as const
const PRIORITIES = Object.keys(PRIORITY_RANK)

const byLabel = <T extends TSchema>(labels: readonly string[], value: T): Record<string, T> =>
  Object.fromEntries(labels.map((label) => [label, value]))

const Count = Type.Integer({ minimum: 0 })

const Series = Type.Object({
  range: Type.Enum(Object.keys(RANGES) as (keyof typeof RANGES)[]),
  bucket_seconds: Type.Integer(),
  times: Type.Array(Type.String({ format: 'date-time' }), {
    description: 'Start of each bucket, oldest first; the last one is not over',
  }),
  runs: Type.Object(byLabel(ENDED, Type.Array(Count)), { description: 'Runs that ended, by status' }),
  findings: Type.Object(byLabel(SEVERITIES, Type.Array(Count)), {
    description: 'Findings that were new or had returned, by severity',
  }),
  queue: Type.Object(byLabel(PRIORITIES, Type.Array(Type.Union([Count, Type.Null()]))), {
    description: 'The highest number of waiting runs, by priority; null: not recorded',
  }),
})

/** One list for each label, with a value for each bucket. */
const columns = <Empty extends 0 | null>(
  points: readonly SeriesPoint[],
  kind: SeriesKind,
  labels: readonly string[],
  { times, empty }: { readonly times: readonly number[]; readonly empty: Empty },
): Record<string, (number | Empty)[]> => {
  const values = new Map(
    points
      .filter((point) => point.kind === kind)
      .map(({ at, label, value }) => [`${Date.parse(at)} ${label}`, value]),
  )
  return Object.fromEntries(
    labels.map((label) => [label, times.map((time) => values.get(`${time} ${label}`) ?? empty)]),
  )
}

export const readSeries = route(
  {
    endpoint: 'GET /stats/series',
    summary: 'Read time series for charts: ended runs, new findings, depth of the queue',
    description:
      'Counted in the background by masters: the newest events may be missing for a few seconds. Counts are kept for 35 days.',
    role: 'viewer',
    query: closed({
      range: Type.Optional(
        Type.Enum(Object.keys(RANGES) as (keyof typeof RANGES)[], { description: 'Default 24h' }),
      ),
    }),
    responses: { 200: Series },
  },
  async ({ store }, { query }) => {
    const range = query.range ?? '24h'
    const { ms, bucketMs } = RANGES[range]
    const last = Math.floor(Date.now() / bucketMs) * bucketMs
    const times = Array.from({ length: ms / bucketMs }, (_, n) => last - ms + (n + 1) * bucketMs)
    const points = await store.figures.read(new Date(last - ms + bucketMs), bucketMs)
    return {
      range,
      bucket_seconds: bucketMs / 1_000,
      times: times.map((time) => new Date(time).toISOString()),
      runs: columns(points, 'run', ENDED, { times, empty: 0 }),
      findings: columns(points, 'finding', SEVERITIES, { times, empty: 0 }),
      queue: columns(points, 'queue', PRIORITIES, { times, empty: null }),
    }
  },
)

const Overview = Type.Object({
  runs: Type.Object(byLabel(RunStatus.enum, Count), {
    description: 'By status',
  }),
  throughput: Type.Object({
    runs_per_minute: Type.Number({
      minimum: 0,
      description: 'Ended runs, mean of the last five whole minutes',
    }),
  }),
  queue: Type.Object({ waiting: Count, by_priority: Type.Array(Depth) }),
  workers: WorkerFigures,
  findings_24h: Type.Object(byLabel(SEVERITIES, Count), {
    description: 'Findings of the last 24 hours that were new or had returned',
  }),
  failing_workflows_24h: Type.Array(FailingWorkflow, {
    description: 'At most 10, those with most failed runs first',
  }),
  cloud: Type.Object({
    enabled: Type.Boolean({ description: '`cloud.enabled`' }),
    ...CloudFigures.properties,
    max_machines: Type.Integer({ description: '`cloud.limits.max_total_instances`' }),
    max_cost: Type.Union([Type.Number(), Type.Null()], {
      description: '`cloud.limits.max_total_cost`; null: no limit',
    }),
  }),
})

const LATELY_MINUTES = 5

export const readOverview = route(
  {
    endpoint: 'GET /stats/overview',
    summary: 'Read the state of the whole farm in one call',
    description: 'Counts of runs above 10,000 may be up to 30 seconds old.',
    role: 'viewer',
    responses: { 200: Overview },
  },
  async ({ store: { runs, figures }, config }) => {
    const [counts, ended, groups, workers, findings, failing, cloud] = await Promise.all([
      runs.counts(),
      figures.endedLately(),
      figures.waiting(),
      figures.workers(),
      figures.newFindings(),
      figures.failingWorkflows(),
      figures.cloud(),
    ])
    const byPriority = depthsOf(groups)
    const { totalInstances, totalCost } = budgetOf(config.cloud)
    return {
      runs: Object.fromEntries(RunStatus.enum.map((status) => [status, counts[status] ?? 0])),
      throughput: { runs_per_minute: ended / LATELY_MINUTES },
      queue: {
        waiting: byPriority.reduce((total, { waiting }) => total + waiting, 0),
        by_priority: byPriority,
      },
      workers,
      findings_24h: Object.fromEntries(SEVERITIES.map((severity) => [severity, findings[severity] ?? 0])),
      failing_workflows_24h: failing,
      cloud: { enabled: config.cloud.enabled, ...cloud, max_machines: totalInstances, max_cost: totalCost },
    }
  },
)
