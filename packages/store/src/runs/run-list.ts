import {
  WAITING,
  type Priority,
  type Run,
  type RunMode,
  type RunOutcome,
  type RunStatus,
} from '@scanfarm/contracts'
import { sql, type Kysely, type RawBuilder } from 'kysely'
import {
  countOf,
  pageOf,
  readPage,
  type PageOf,
  type PageRequest,
  type PageRows,
  decodeCursor,
} from '../page.ts'
import { conditionsBy, is, type ValuesOf } from '../findings/condition.ts'
import { sortedPage, SORTED_LETTERS, type SortKey, type SortRequest } from '../findings/sorted.ts'
import { RUNS, type RunRow } from './run-rows.ts'
import { canBeStored } from '../text.ts'
import type { Totals } from '../totals.ts'
import { ofOrg } from '../workspaces/names.ts'
import { runsOf } from './waiting-reason.ts'
import type { Tables } from '../tables.ts'

const FILTERS = {
  workflowName: is('workflow_name'),
  target: is('target'),
  workspace: is('workspace'),
  runMode: is<RunMode>('run_mode'),
  priority: (priority: Priority) => [sql`job_no in (select id from jobs where priority = ${priority})`],
  jobId: (id: string) => [
    canBeStored(id) ? sql`job_no = (select id from jobs where job_id = ${id})` : sql`false`,
  ],
  /** uuid of the organisation that has its workspace. */
  org: (org: string) => ofOrg(sql`workspace`, org),
  /** Id of the run whose loops they execute. */
  parent: (run: number) => [sql`job_no in (select id from jobs where parent_run = ${run})`],
}

export interface RunFilter extends ValuesOf<typeof FILTERS> {
  /** `pending` covers queued too. */
  readonly status?: RunStatus
  readonly outcomes?: readonly RunOutcome[]
}

const ALL_STATUSES: readonly RunStatus[] = [
  'pending',
  'queued',
  'running',
  'completed',
  'failed',
  'cancelled',
]

const SORT_KEYS = {
  created: { key: sql`r.id`, type: 'bigint', isIndexed: true },
  target: { key: sql`lower(left(r.target, ${SORTED_LETTERS}))`, type: 'text' },
  workflow: { key: sql`left(r.workflow_name, ${SORTED_LETTERS})`, type: 'text' },
  workspace: { key: sql`left(r.workspace, ${SORTED_LETTERS})`, type: 'text' },
  status: { key: sql`r.status`, type: 'text' },
  outcome: { key: sql`coalesce(r.outcome, '')`, type: 'text' },
  // Of ended runs, in microseconds.
  took: {
    key: sql`coalesce((extract(epoch from r.completed_at - r.started_at) * 1e6)::bigint, -1)`,
    type: 'bigint',
  },
} as const satisfies Record<string, SortKey>
export type RunSort = keyof typeof SORT_KEYS
export const RUN_SORTS = Object.keys(SORT_KEYS) as RunSort[]

export const makeRunList = (db: Kysely<Tables>, totals: Totals) => ({
  /** Page of runs, newest first unless sorted. */
  async list(filter: RunFilter, { sort, ...page }: SortRequest<RunSort>): Promise<PageOf<Run>> {
    const counted = totals.of(`runs ${JSON.stringify(Object.entries(filter).sort())}`, () =>
      countRuns(db, filter),
    )
    const found = async (): Promise<PageOf<RunRow>> => {
      if (sort === undefined) {
        const [total, rows] = await Promise.all([counted, pageOfRuns(db, filter, page)])
        return pageOf(rows, { total, limit: page.limit })
      }
      const conditions = conditionsOf(filter)
      const list = { keys: SORT_KEYS, table: sql`runs r`, source: RUNS, conditions, total: await counted }
      return await sortedPage(db, list, page, sort)
    }
    const { data, ...rest } = await found()
    return { ...rest, data: await runsOf(db, data) }
  },
  counts: (): Promise<Partial<Record<RunStatus, number>>> =>
    totals.group(
      'runs by status',
      async () => {
        const { rows } = await sql<{ status: RunStatus; n: number }>`
          select status, r.n - coalesce(b.n, 0) as n from (select status, count(*) as n from runs group by status) r
          left join (select status, count(*) as n from runs where batch is not null group by status) b using (status)
        `.execute(db)
        return Object.fromEntries(rows.map(({ status, n }) => [status, n]))
      },
      (counts) => Object.values(counts).reduce((sum, n) => sum + n, 0),
    ),
})

const statusesOf = (status: RunStatus | undefined): readonly RunStatus[] | undefined =>
  status === undefined ? undefined : status === 'pending' ? WAITING : [status]

const and = (conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> =>
  conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)

/** Runs that execute items of a loop of another run are listed only by their parent or their job. */
const conditionsBesideStatus = (filter: RunFilter): RawBuilder<unknown>[] => [
  ...(filter.parent === undefined && filter.jobId === undefined ? [sql`batch is null`] : []),
  ...conditionsBy(FILTERS)(filter),
]

const conditionsOf = (filter: RunFilter): RawBuilder<unknown>[] => {
  const statuses = statusesOf(filter.status)
  const conditions = conditionsBesideStatus(filter)
  if (statuses) conditions.push(sql`status = any(${statuses})`)
  if (filter.outcomes) conditions.push(sql`outcome = any(${filter.outcomes})`)
  return conditions
}

const countRuns = (db: Kysely<Tables>, filter: RunFilter): Promise<number> =>
  countOf(db, sql`from runs where ${and(conditionsOf(filter))}`)

const branchesOf = (
  statuses: readonly RunStatus[] | undefined,
  outcomes: readonly RunOutcome[] | undefined,
): RawBuilder<unknown>[][] | undefined => {
  const byStatus = statuses?.map((status) => [sql`status = ${status}`])
  if (outcomes === undefined) return byStatus
  return outcomes.flatMap((outcome) =>
    (byStatus ?? [[]]).map((branch) => [...branch, sql`outcome = ${outcome}`]),
  )
}

/**
 * Reads the ids of the page from an index, then the rows: otherwise a deep offset fetches every row that it skips. The
 * indexes on (status, id), (workflow_name, status, id) and (outcome, id) are sorted within one status and outcome only,
 * so the query is a union with one limited branch for each status and outcome.
 */
const pageOfRuns = async (
  db: Kysely<Tables>,
  filter: RunFilter,
  page: PageRequest,
): Promise<PageRows<RunRow>> => {
  const conditions = conditionsBesideStatus(filter)
  const offset = page.cursor === undefined ? page.offset : 0
  if (page.cursor !== undefined) conditions.push(sql`id < ${decodeCursor(page.cursor)}`)
  const statuses = statusesOf(filter.status) ?? (filter.workflowName === undefined ? undefined : ALL_STATUSES)
  const branches = branchesOf(statuses, filter.outcomes)
  const cut = offset + page.limit
  const candidates = branches
    ? sql.join(
        branches.map(
          (branch) =>
            sql`(select id from runs where ${and([...conditions, ...branch])} order by id desc limit ${cut})`,
        ),
        sql` union all `,
      )
    : sql`select id from runs where ${and(conditions)}`
  return readPage(db, {
    ids: sql`select id from (${candidates}) c order by id desc limit ${page.limit} offset ${offset}`,
    ...RUNS,
  })
}
