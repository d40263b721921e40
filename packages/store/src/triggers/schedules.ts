import { randomBytes } from 'node:crypto'
import {
  AppError,
  type Missed,
  type Overlap,
  type Priority,
  type RunMode,
  type Schedule,
  type ScheduledRun,
  type WorkflowKind,
} from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { countOf, newestFirst, type PageOf, type PageRequest } from '../page.ts'
import { canBeStored, storable, storableJson } from '../text.ts'
import type { Tables } from '../tables.ts'
import { allRows, firstRow, firstValue } from '../rows.ts'

/** A trigger that was created over the API. */
export interface ScheduleDraft {
  readonly name: string
  readonly workflow_name: string
  readonly workflow_kind: WorkflowKind
  readonly target: string
  readonly workspace: string
  readonly params: Readonly<Record<string, string>>
  readonly trigger_type: 'cron' | 'event' | 'watch'
  readonly schedule: string
  readonly event_topic: string
  readonly watch_path: string
  readonly spec: ScheduleSpec
  readonly is_enabled: boolean
}

/** Optional fields of a schedule. */
export interface ScheduleSpec {
  readonly timezone?: string
  readonly missed?: Missed
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
  /** As in `POST /runs`. */
  readonly run?: ScheduledRun
}

export type StoredSchedule = ScheduleDraft &
  Pick<Schedule, 'id' | 'last_run' | 'run_count' | 'created_at' | 'updated_at'>

/** Limited, because every master holds all of them in memory. */
export const MAX_SCHEDULES = 10_000

const DRAFT = sql`
  name, workflow_name, workflow_kind, target, workspace, params, trigger_type, schedule, event_topic, watch_path, spec,
  is_enabled`
const COLUMNS = sql`id, ${DRAFT}, last_run, run_count, created_at, updated_at`

export const newScheduleId = (): string => `sch_${randomBytes(8).toString('hex')}`

/** Undefined: the limit is reached. */
export const insertSchedule = async (
  db: Kysely<Tables>,
  id: string,
  schedule: ScheduleDraft,
): Promise<StoredSchedule | undefined> => {
  return await firstRow(db)<StoredSchedule>`
    insert into schedules (id, ${DRAFT}) select ${id}, ${valuesOf(schedule)}
    where (select count(*) from schedules) < ${MAX_SCHEDULES} returning ${COLUMNS}
  `
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
    }),
  /** Those that ran last come first. */
  latest: async (limit: number, offset: number): Promise<{ data: StoredSchedule[]; total: number }> => {
    const [data, total] = await Promise.all([
      allRows(db)<StoredSchedule>`
        select ${COLUMNS} from schedules order by last_run desc nulls last, no desc limit ${limit} offset ${offset}`,
      countOf(db, sql`from schedules`),
    ])
    return { data, total }
  },
  /** At most `MAX_SCHEDULES`. */
  all: (): Promise<StoredSchedule[]> =>
    allRows(db)`select ${COLUMNS} from schedules order by no limit ${MAX_SCHEDULES}`,
  find: async (id: string): Promise<StoredSchedule | undefined> => {
    if (!canBeStored(id)) return undefined
    return await firstRow(db)<StoredSchedule>`select ${COLUMNS} from schedules where id = ${id}`
  },
  /** Undefined: the limit is reached. */
  add: (schedule: ScheduleDraft): Promise<StoredSchedule | undefined> =>
    insertSchedule(db, newScheduleId(), schedule),
  /** Undefined for an unknown id. */
  replace: async (id: string, schedule: ScheduleDraft): Promise<StoredSchedule | undefined> => {
    if (!canBeStored(id)) return undefined
    return await firstRow(db)<StoredSchedule>`
      update schedules set (${DRAFT}) = (select ${valuesOf(schedule)}), updated_at = clock_timestamp()
      where id = ${id} returning ${COLUMNS}
    `
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
  ${storable(schedule.name)}, ${storable(schedule.workflow_name)}, ${schedule.workflow_kind},
  ${storable(schedule.target)}, ${schedule.workspace}, ${storableJson(schedule.params)}::jsonb, ${schedule.trigger_type},
  ${storable(schedule.schedule)}, ${storable(schedule.event_topic)}, ${storable(schedule.watch_path)},
  ${storableJson(schedule.spec)}::jsonb, ${schedule.is_enabled}::boolean`
