import {
  closed,
  picked,
  RecordChange,
  RecordChanges,
  RunStatus,
  Timestamp,
  wrapped,
  type RunDetail,
} from '@scanfarm/contracts'
import type { Store } from '@scanfarm/store'
import { Type } from 'typebox'
import { found, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { timeOf } from '../query.ts'
import { isEstablished } from '../../compat/runs.ts'
import { EstablishedChange, EstablishedDiff, establishedDiff } from '../../compat/diff.ts'

const MAX_RECORDS = 10_000
const DEFAULT_RECORDS = 1_000

const limit = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: MAX_RECORDS,
    default: DEFAULT_RECORDS,
    description: 'Maximum records in each list; the totals count all',
  }),
)

const change = Type.Optional(
  Type.Enum(['new', 'gone', 'changed'], { description: 'Only this list; the totals count all' }),
)
const after = Type.Optional(
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description: 'Only records with a higher id: the last id of a list continues it, together with `change`',
  }),
)

/** The part of all changes that a request asks for. */
const partOf = (query: { limit?: number; change?: 'new' | 'gone' | 'changed'; after?: number }) => ({
  limit: query.limit ?? DEFAULT_RECORDS,
  ...(query.change === undefined ? {} : { change: query.change }),
  ...(query.after === undefined ? {} : { after: query.after }),
})

const RunSide = Type.Object({
  id: Type.Integer(),
  run_uuid: Type.String(),
  workflow_name: Type.String(),
  target: Type.String(),
  workspace: Type.String(),
  status: RunStatus,
})
const sideOf = (run: RunDetail) =>
  picked(run, ['id', 'run_uuid', 'workflow_name', 'target', 'workspace', 'status'])

const runOf = async ({ runs }: Pick<Store, 'runs'>, ref: string): Promise<RunDetail> =>
  found('run', ref, await runs.find(ref))

export const diffRuns = route(
  {
    endpoint: 'GET /runs/{id}/diff/{other}',
    summary: 'Compare the findings of two runs',
    description:
      'Records that only the second run found are new, records that only the first run found are gone, and records that both found with differences are changed. Sightings are kept for the latest 50 runs of the same workflow, target and params.',
    role: 'viewer',
    query: closed({ limit, change, after }),
    responses: {
      200: wrapped(
        Type.Object({ from: RunSide, to: RunSide, vulnerabilities: RecordChanges, assets: RecordChanges }),
      ),
    },
  },
  async ({ store }, { params, query }) => {
    const [from, to] = await Promise.all([runOf(store, params.id), runOf(store, params.other)])
    const diff = await store.scans.compare(from.id, to.id, partOf(query))
    return { data: { from: sideOf(from), to: sideOf(to), ...diff } }
  },
)

const DiffQuery = closed({
  workspace: Type.String({ minLength: 1 }),
  from: Type.String({ description: 'RFC 3339, or seconds since 1970' }),
  to: Type.Optional(Type.String({ description: 'Same format; now if missing' })),
  limit,
  change,
  after,
})

const workspaceDiff = (kind: 'vulnerability' | 'asset', endpoint: `GET /${string}`, things: string) =>
  route(
    {
      endpoint,
      summary: `List the ${things} of a workspace that appeared, disappeared or changed in a period`,
      role: 'viewer',
      query: DiffQuery,
      responses: {
        200: wrapped(
          Type.Object({
            workspace: Type.String(),
            from: Timestamp,
            to: Timestamp,
            ...RecordChanges.properties,
            changed: Type.Array(Type.Object({ ...RecordChange.properties, ...EstablishedChange.properties })),
            ...EstablishedDiff.properties,
          }),
        ),
      },
    },
    async ({ store }, { query, http }) => {
      const { workspace, from, to } = query
      const begin = timeOf('/from', from)
      const end = to === undefined ? new Date() : timeOf('/to', to)
      if (begin > end) refuse([{ path: '/from', message: 'must not be after to' }])
      const changes = await store.scans.changes(kind, workspace, {
        from: begin,
        to: end,
        ...partOf(query),
      })
      const period = { from: begin.toISOString(), to: end.toISOString() }
      const data = { workspace, ...period, ...changes }
      if (!isEstablished(http.root)) return { data }
      const times = { workspace_name: workspace, from_time: period.from, to_time: period.to }
      return { data: { ...data, ...times, ...(await establishedDiff(store, kind, changes)) } }
    },
  )

export const diffVulnerabilities = workspaceDiff(
  'vulnerability',
  'GET /vulnerabilities/diff',
  'vulnerabilities',
)
export const diffAssets = workspaceDiff('asset', 'GET /assets/diff', 'assets')
