import { Type } from 'typebox'
import { route } from '../../http/route.ts'

const Count = Type.Integer({ minimum: 0 })
const Total = Type.Object({ total: Count })
const Runs = Type.Object({
  total: Count,
  completed: Count,
  running: Count,
  failed: Count,
  pending: Type.Integer({ minimum: 0, description: 'pending and queued together' }),
  cancelled: Count,
})

export const getStats = route(
  {
    endpoint: 'GET /stats',
    summary: 'Count the records of the farm',
    description: 'Counts above 10,000 may be a few seconds old.',
    role: 'viewer',
    responses: {
      200: Type.Object({
        workflows: Type.Object({ total: Count, flows: Count, modules: Count }),
        runs: Runs,
        scans: Type.Object(Runs.properties, { description: 'Same as runs' }),
        workspaces: Total,
        assets: Total,
        subdomains: Total,
        vulnerabilities: Type.Object({
          total: Count,
          critical: Count,
          high: Count,
          medium: Count,
          low: Count,
          info: Count,
        }),
        schedules: Type.Object({ total: Count, enabled: Count }),
      }),
    },
  },
  async ({ store, catalog }) => {
    const one = { offset: 0, limit: 1 }
    const [workflows, counts, workspaces, assets, subdomains, severities, schedules] = await Promise.all([
      catalog.list(),
      store.runs.counts(),
      store.workspaces.count(),
      store.assets.list({}, one),
      store.assets.list({ asset_type: ['subdomain'] }, one),
      store.vulnerabilities.summary({}),
      store.schedules.all(),
    ])
    const entries = workflows.filter(({ hidden }) => !hidden)
    const flows = entries.filter(({ kind }) => kind === 'flow').length
    const { completed = 0, running = 0, failed = 0, cancelled = 0, pending = 0, queued = 0 } = counts
    const total = completed + running + failed + cancelled + pending + queued
    const runs = { total, completed, running, failed, pending: pending + queued, cancelled }
    return {
      workflows: { total: entries.length, flows, modules: entries.length - flows },
      runs,
      scans: runs,
      workspaces: { total: workspaces },
      assets: { total: assets.total },
      subdomains: { total: subdomains.total },
      vulnerabilities: {
        total: Object.values(severities).reduce((sum, count) => sum + count, 0),
        ...severities,
      },
      schedules: {
        total: schedules.length,
        enabled: schedules.filter(({ is_enabled }) => is_enabled).length,
      },
    }
  },
)

export const listTables = route(
  {
    endpoint: 'GET /database/tables',
    summary: 'List the tables of runs and findings with their number of records',
    role: 'viewer',
    responses: {
      200: Type.Object({
        data: Type.Array(
          Type.Object({
            name: Type.String(),
            row_count: Type.Integer(),
            estimated: Type.Boolean({
              description: 'True if there are more than 10,000 records, which are not counted',
            }),
          }),
        ),
        valid_tables: Type.Array(Type.String()),
      }),
    },
  },
  async ({ store }) => {
    const tables = await store.tables()
    return {
      data: tables.map(({ name, rows, estimated }) => ({ name, row_count: rows, estimated })),
      valid_tables: tables.map(({ name }) => name),
    }
  },
)
