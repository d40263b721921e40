import { randomBytes } from 'node:crypto'
import { AppError } from '@scanfarm/contracts'
import { sql, type Kysely } from 'kysely'
import { decodeCursor } from '../cursor.ts'
import { pageOf, readPage } from '../page.ts'
import { canBeStored, storable, storableJson } from '../text.ts'
import type { ScheduleDraft, Schedules, StoredSchedule } from './port.ts'

/** Every master holds all of them in memory. */
export const MAX_SCHEDULES = 10_000

const COLUMNS = sql`
  id, name, workflow_name as "workflowName", workflow_kind as "workflowKind", target, workspace, params,
  trigger_type as "triggerType", schedule, event_topic as "eventTopic", watch_path as "watchPath", spec,
  is_enabled as enabled, last_run as "lastRun", run_count as "runCount", created_at as "createdAt",
  updated_at as "updatedAt", no`

type Row = StoredSchedule & { no: number }
const withoutNo = ({ no: _, ...schedule }: Row): StoredSchedule => schedule

export const newScheduleId = (): string => `sch_${randomBytes(8).toString('hex')}`

/** Undefined: there are too many. */
export const insertSchedule = async (
  db: Kysely<unknown>,
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

/** A schedule that repeats a job: the job counts as its first firing. Refused when there are too many. */
export const insertRepeat = async (
  db: Kysely<unknown>,
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
  new AppError('conflict', `there are ${MAX_SCHEDULES} schedules already: delete one first`)

export const makeSchedules = (db: Kysely<unknown>): Schedules => ({
  list: async (page) => {
    const before = page.cursor === undefined ? null : decodeCursor(page.cursor)
    const [found, total] = await Promise.all([
      readPage<Row>(db, {
        ids: sql`select no as id from schedules where ${before}::bigint is null or no < ${before}
                 order by no desc limit ${page.limit} offset ${before === null ? page.offset : 0}`,
        from: sql`schedules`,
        id: sql`no`,
        bytes: sql`octet_length(target) + octet_length(params::text) + octet_length(watch_path) + octet_length(spec::text)`,
        columns: COLUMNS,
      }),
      sql<{ total: number }>`select count(*) as total from schedules`.execute(db),
    ])
    return pageOf(found, {
      total: total.rows[0]?.total ?? 0,
      limit: page.limit,
      idOf: (row) => row.no,
      item: withoutNo,
    })
  },
  all: async () => {
    const { rows } =
      await sql<Row>`select ${COLUMNS} from schedules order by no limit ${MAX_SCHEDULES}`.execute(db)
    return rows.map(withoutNo)
  },
  find: async (id) => {
    if (!canBeStored(id)) return undefined
    const { rows } = await sql<Row>`select ${COLUMNS} from schedules where id = ${id}`.execute(db)
    return rows[0] && withoutNo(rows[0])
  },
  add: (schedule) => insertSchedule(db, newScheduleId(), schedule),
  replace: async (id, schedule) => {
    if (!canBeStored(id)) return undefined
    const { rows } = await sql<Row>`
      update schedules
      set (name, workflow_name, workflow_kind, target, workspace, params, trigger_type, schedule, event_topic,
           watch_path, spec, is_enabled) = (select ${valuesOf(schedule)}), updated_at = clock_timestamp()
      where id = ${id} returning ${COLUMNS}
    `.execute(db)
    return rows[0] && withoutNo(rows[0])
  },
  remove: async (id) => {
    if (!canBeStored(id)) return false
    const { rows } = await sql`
      with gone as (delete from schedules where id = ${id} returning id),
           clock as (delete from trigger_clocks where trigger_key in (select id from gone)),
           files as (delete from watched_files where trigger_key in (select id from gone))
      select id from gone
    `.execute(db)
    return rows.length > 0
  },
  version: async () => {
    const { rows } = await sql<{ version: string }>`
      select count(*) || ' ' || coalesce(max(updated_at), 'epoch') || ' ' || coalesce(max(no), 0) as version from schedules
    `.execute(db)
    return rows[0]?.version ?? ''
  },
})

const valuesOf = (schedule: ScheduleDraft) => sql`
  ${storable(schedule.name)}, ${storable(schedule.workflowName)}, ${schedule.workflowKind},
  ${storable(schedule.target)}, ${schedule.workspace}, ${storableJson(schedule.params)}::jsonb, ${schedule.triggerType},
  ${storable(schedule.schedule)}, ${storable(schedule.eventTopic)}, ${storable(schedule.watchPath)},
  ${storableJson(schedule.spec)}::jsonb, ${schedule.enabled}::boolean`
