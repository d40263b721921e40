import { randomBytes } from 'node:crypto'
import {
  AppError,
  type CreateRuns,
  type Priority,
  type RunMode,
  type WorkflowKind,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { countOf, newestFirst, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored, storable, storableJson } from '../text.ts'
import type { Tables } from '../tables.ts'
import { firstValue } from '../rows.ts'

export type Overlap = 'allow' | 'skip' | 'queue' | 'cancel-previous'
export type MissedPolicy = 'skip' | 'once' | 'all'

/** A trigger that was created over the API. */
export interface ScheduleDraft {
  readonly name: string
  readonly workflowName: string
  readonly workflowKind: WorkflowKind
  readonly target: string
  readonly workspace: string
  readonly params: Readonly<Record<string, string>>
  readonly triggerType: 'cron' | 'event' | 'watch'
  readonly schedule: string
  readonly eventTopic: string
  readonly watchPath: string
  readonly spec: ScheduleSpec
  readonly enabled: boolean
}

/** Optional fields of a schedule. */
export interface ScheduleSpec {
  readonly timezone?: string
  readonly missed?: MissedPolicy
  readonly missedWindowMs?: number
  readonly jitterMs?: number
  readonly overlap?: Overlap
  readonly filters?: readonly string[]
  readonly dedupeKey?: string
  readonly dedupeWindowMs?: number
  readonly settleMs?: number
  readonly input?: Readonly<Record<string, string>>
  readonly runMode?: Exclude<RunMode, 'cloud'>
  readonly priority?: Priority
  /** Several targets, instead of `target`. */
  readonly targets?: readonly string[]
  readonly run?: ScheduledRun
}

/** Fields of its runs, as in `POST /runs`. */
export type ScheduledRun = Pick<
  CreateRuns,
  | 'runner_type'
  | 'docker_image'
  | 'docker_network'
  | 'ssh_host'
  | 'scope'
  | 'mode'
  | 'max_age'
  | 'full_every'
  | 'resume'
  | 'timeout'
  | 'concurrency'
>

export interface StoredSchedule extends ScheduleDraft {
  readonly id: string
  readonly lastRun: string | null
  readonly runCount: number
  readonly createdAt: string
  readonly updatedAt: string
}

/** Limited, because every master holds all of them in memory. */
export const MAX_SCHEDULES = 10_000

const COLUMNS = sql`
  id, name, workflow_name as "workflowName", workflow_kind as "workflowKind", target, workspace, params,
  trigger_type as "triggerType", schedule, event_topic as "eventTopic", watch_path as "watchPath", spec,
  is_enabled as enabled, last_run as "lastRun", run_count as "runCount", created_at as "createdAt",
  updated_at as "updatedAt", no`

type Row = StoredSchedule & { no: number }
const withoutNo = ({ no: _, ...schedule }: Row): StoredSchedule => schedule

export const newScheduleId = (): string => `sch_${randomBytes(8).toString('hex')}`

/** Undefined: the limit is reached. */
export const insertSchedule = async (
  db: Kysely<Tables>,
  id: string,
  schedule: ScheduleDraft,
): Promise<StoredSchedule | undefined> => {
  const { rows } = await sql<Row>`
    insert into schedules (id, name, workflow_name, workflow_kind, target, workspace, params, trigger_type, schedule,
                           event_topic, watch_path, spec, is_enabled)
    select ${id}, ${valuesOf(schedule)}
    where (select count(*) from schedules) < ${MAX_SCHEDULES}
    returning ${COLUMNS}
  `.execute(db)
  return rows[0] && withoutNo(rows[0])
}

/** A schedule that repeats a job, which counts as its first execution. Throws if the limit is reached. */
export const insertRepeat = async (
  db: Kysely<Tables>,
  id: string,
  schedule: ScheduleDraft,
  jobNo: number,
): Promise<void> => {
  if ((await insertSchedule(db, id, schedule)) === undefined) throw tooManySchedules()
  await sql`
    with firing as (
      insert into trigger_firings (trigger_key, fire_key, state, job_no) values (${id}, 'submitted', 'open', ${jobNo}))
    update schedules set last_run = now(), run_count = 1 where id = ${id}
  `.execute(db)
}

export const tooManySchedules = (): AppError =>
  new AppError('conflict', `the limit of ${MAX_SCHEDULES} schedules is reached: delete one first`)

export const makeSchedules = (db: Kysely<Tables>) => ({
  /** Newest first. */
  list: (page: PageRequest): Promise<PageOf<StoredSchedule>> =>
    newestFirst(db, page, {
      from: sql`schedules s`,
      id: sql`s.no`,
      bytes: sql`octet_length(target) + octet_length(params::text) + octet_length(watch_path) + octet_length(spec::text)`,
      columns: COLUMNS,
      item: withoutNo,
    }),
  /** Those that ran last come first. */
  latest: async (limit: number, offset: number): Promise<{ data: StoredSchedule[]; total: number }> => {
    const [{ rows }, total] = await Promise.all([
      sql<Row>`select ${COLUMNS} from schedules order by last_run desc nulls last, no desc
               limit ${limit} offset ${offset}`.execute(db),
      countOf(db, sql`from schedules`),
    ])
    return { data: rows.map(withoutNo), total }
  },
  /** At most `MAX_SCHEDULES`. */
  all: async (): Promise<StoredSchedule[]> => {
    const { rows } =
      await sql<Row>`select ${COLUMNS} from schedules order by no limit ${MAX_SCHEDULES}`.execute(db)
    return rows.map(withoutNo)
  },
  find: async (id: string): Promise<StoredSchedule | undefined> => {
    if (!canBeStored(id)) return undefined
    const { rows } = await sql<Row>`select ${COLUMNS} from schedules where id = ${id}`.execute(db)
    return rows[0] && withoutNo(rows[0])
  },
  /** Undefined: the limit is reached. */
  add: (schedule: ScheduleDraft): Promise<StoredSchedule | undefined> =>
    insertSchedule(db, newScheduleId(), schedule),
  /** Undefined for an unknown id. */
  replace: async (id: string, schedule: ScheduleDraft): Promise<StoredSchedule | undefined> => {
    if (!canBeStored(id)) return undefined
    const { rows } = await sql<Row>`
      update schedules
      set (name, workflow_name, workflow_kind, target, workspace, params, trigger_type, schedule, event_topic,
           watch_path, spec, is_enabled) = (select ${valuesOf(schedule)}), updated_at = clock_timestamp()
      where id = ${id} returning ${COLUMNS}
    `.execute(db)
    return rows[0] && withoutNo(rows[0])
  },
  remove: async (id: string): Promise<boolean> => {
    if (!canBeStored(id)) return false
    const { rows } = await sql`
      with gone as (delete from schedules where id = ${id} returning id),
           clock as (delete from trigger_clocks where trigger_key in (select id from gone)),
           files as (delete from watched_files where trigger_key in (select id from gone))
      select id from gone
    `.execute(db)
    return rows.length > 0
  },
  /** Changes whenever a schedule changes. */
  version: (): Promise<string> => firstValue(db, '')`
      select count(*) || ' ' || coalesce(max(updated_at), 'epoch') || ' ' || coalesce(max(no), 0) as version from schedules
    `,
})

const valuesOf = (schedule: ScheduleDraft) => sql`
  ${storable(schedule.name)}, ${storable(schedule.workflowName)}, ${schedule.workflowKind},
  ${storable(schedule.target)}, ${schedule.workspace}, ${storableJson(schedule.params)}::jsonb, ${schedule.triggerType},
  ${storable(schedule.schedule)}, ${storable(schedule.eventTopic)}, ${storable(schedule.watchPath)},
  ${storableJson(schedule.spec)}::jsonb, ${schedule.enabled}::boolean`
