import { CLOUD_SLOTS, type Wanted, type Worker, type WorkerDetail, type WorkerRun } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { allInOrder, ROW_BYTES, type PageOf } from './page.ts'
import { canBeStored } from './text.ts'
import type { Tables } from './tables.ts'
import { allRows, firstRow, firstValue } from './rows.ts'

const MAX_LISTED_RUNS = 1_000
const UUID_BYTES = 39

const IN_ORDER = sql`(select *, row_number() over (order by joined_at desc, id) as place from workers)`
const RUNS = sql`array(select run_uuid::text from runs where worker_id = w.id and status = 'running'
                       order by id limit ${MAX_LISTED_RUNS})`
const COLUMNS = sql`
  w.id, w.name, w.hostname, w.pid, w.version, w.kind, w.slots, w.capabilities, w.enforcement_gap, w.tools, w.joined_at, w.last_heartbeat,
  w.wanted, w.drain_until, w.lease_until, w.lost_at,
  greatest(0, floor(extract(epoch from now() - w.last_heartbeat) * 1000))::bigint as lease_age_ms,
  case when w.lost_at is not null or w.lease_until < now() then 'lost'
       when w.draining or w.wanted <> 'running' then 'draining'
       when w.busy > 0 or cardinality(${RUNS}) > 0 then 'busy' else 'idle' end as status,
  -- A run that waits for the batches of its loop runs without a slot.
  least(w.slots, greatest(case when w.lost_at is null then w.busy end, cardinality(${RUNS}))) as busy_slots,
  ${RUNS} as current_runs`

/** Whether a live server executes local runs. */
export const HAS_LOCAL_SLOTS = sql<boolean>`exists (
  select from workers where kind = 'server' and lost_at is null and lease_until > now()
    and not ${CLOUD_SLOTS}::text = any(capabilities))`

/** How long the names of workers that have left are kept. */
const KEEP_NAMES_DAYS = 90

/** Ended runs of a worker are counted among the newest runs of the farm: no index finds all of them. */
const COUNTED_RUNS = 10_000

/**
 * `ok`: it is recorded. `lost`: the process is lost or has left. `slots`: the slots of a server end with the server.
 * `stopping`: the program already ends.
 */
export type Directed = 'ok' | 'unknown' | 'lost' | 'slots' | 'stopping'

const runsOf = (db: Kysely<Tables>, id: string): Promise<WorkerRun[]> => allRows(db)<WorkerRun>`
    select r.id, r.run_uuid, j.job_id, r.workflow_name, r.target, r.attempt,
           coalesce(r.claimed_at, r.started_at) as since
    from runs r join jobs j on j.id = r.job_no
    where r.worker_id = ${id} and r.status = 'running' order by r.id limit ${MAX_LISTED_RUNS}
  `

type Row = Omit<Worker, 'current_task' | 'tasks_complete' | 'tasks_failed'>
type Ended = ReadonlyMap<string, { readonly completed: number; readonly failed: number }>

const endedRuns = async (db: Kysely<Tables>): Promise<Ended> => {
  const { rows } = await sql<{ worker_id: string; completed: number; failed: number }>`
    select worker_id, count(*) filter (where status = 'completed') as completed,
           count(*) filter (where status = 'failed') as failed
    from (select worker_id, status from runs order by id desc limit ${COUNTED_RUNS}) newest
    where status in ('completed', 'failed')
    group by worker_id
  `.execute(db)
  return new Map(rows.map((row) => [row.worker_id, row]))
}

const withTasks = (row: Row, ended: Ended): Worker => ({
  ...row,
  current_task: row.current_runs[0] ?? '',
  tasks_complete: ended.get(row.id)?.completed ?? 0,
  tasks_failed: ended.get(row.id)?.failed ?? 0,
})

export const makeWorkers = (db: Kysely<Tables>) => ({
  list: async (cursor?: string): Promise<PageOf<Worker>> => {
    const ended = await endedRuns(db)
    return await allInOrder<Row, Worker>(db, cursor, {
      from: sql`${IN_ORDER} w`,
      id: sql`w.place`,
      counted: sql`from workers`,
      bytes: sql`${ROW_BYTES} + octet_length(w.capabilities::text) + coalesce(octet_length(w.enforcement_gap), 0) + octet_length(w.tools::text) + ${UUID_BYTES} * least(w.slots, ${MAX_LISTED_RUNS})`,
      columns: COLUMNS,
      item: (row) => withTasks(row, ended),
    })
  },
  find: async (id: string): Promise<WorkerDetail | undefined> => {
    if (!canBeStored(id)) return undefined
    const row = await firstRow(db)<Row>`select ${COLUMNS} from workers w where w.id = ${id}`
    if (row === undefined) return undefined
    const [ended, runs] = await Promise.all([endedRuns(db), runsOf(db, id)])
    return { ...withTasks(row, ended), runs }
  },
  /** Records what an operator wants of a process, or why that is not possible. `forMs`: a stop waits for its runs. */
  direct: async (id: string, wanted: Wanted, forMs?: number): Promise<Directed> => {
    if (!canBeStored(id)) return 'unknown'
    return await firstValue<Directed>(
      db,
      'unknown',
    )`select direct_worker(${id}, ${wanted}, ${forMs ?? null}) as answer`
  },
  /** Capabilities of each live worker of the kind `worker`. */
  liveCapabilities: async (): Promise<string[][]> => {
    const rows = await db
      .selectFrom('workers')
      .select('capabilities')
      .where('kind', '=', 'worker')
      .where('lost_at', 'is', null)
      .where('lease_until', '>', sql<string>`now()`)
      .orderBy('id')
      .execute()
    return rows.map((row) => row.capabilities)
  },
  /** Whether a live server executes local runs. */
  hasLocalSlots: (): Promise<boolean> => firstValue(db, false)`select ${HAS_LOCAL_SLOTS} as found`,
  /** Deletes workers that were lost longer ago than this, and names of workers that left long ago. */
  prune: async (olderThanMs: number): Promise<number> => {
    const { rows } = await sql<{ removed: number }>`
      select remove_workers(array(
        select id from workers w
        where greatest(lost_at, lease_until) < now() - ${olderThanMs} * interval '1 ms' and lost_at is not null
          and not exists (select 1 from runs where worker_id = w.id and status = 'running'))) as removed
    `.execute(db)
    await db
      .deleteFrom('past_workers')
      .where('left_at', '<', sql<string>`now() - ${KEEP_NAMES_DAYS} * interval '1 day'`)
      .execute()
    return rows[0]?.removed ?? 0
  },
})
