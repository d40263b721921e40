import { randomUUID } from 'node:crypto'
import { AppError, ChangeSchedule, CreateSchedule, Schedule, Warnings, wrapped } from '@scanfarm/contracts'
import { tooManySchedules, type StoredSchedule } from '@scanfarm/store'
import { Type } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { json } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { planScheduled } from '../../triggers/plan-scheduled.ts'
import { checkedTrigger, draftOf, listed, restored, scheduleWarnings, shown } from './schedule-body.ts'
import { refuseMode } from '../../submission/plan-job.ts'
import { readScheduleForm } from '../../compat/read-forms.ts'
import { idOf, NamedPath, nameWarnings, warned } from '../named.ts'
import { pages } from '../../http/paging.ts'
import { found, missing } from '../../http/refusal.ts'

const Changed = Type.Object({
  message: Type.String(),
  data: Schedule,
  warnings: Type.Optional(Warnings),
})

export const shownAll = async (
  { store }: Pick<ServerContext, 'store'>,
  schedules: readonly StoredSchedule[],
): Promise<Schedule[]> => {
  const clocks = await store.triggers.clocks(schedules.map(({ id }) => id))
  return schedules.map((schedule) => shown(schedule, clocks.get(schedule.id)))
}

const shownOne = async (
  { store }: Pick<ServerContext, 'store'>,
  schedule: StoredSchedule,
): Promise<Schedule> => shown(schedule, (await store.triggers.clocks([schedule.id])).get(schedule.id))

const changed = async (
  context: Pick<ServerContext, 'store'>,
  message: string,
  schedule: StoredSchedule,
  body: ChangeSchedule,
) => {
  const data = await shownOne(context, schedule)
  const names = await nameWarnings(context, 'schedule', body.name)
  return { message, data, ...warned([...names, ...scheduleWarnings(body, data)]) }
}

export const foundSchedule = async (
  context: Pick<ServerContext, 'store'>,
  ref: string,
): Promise<StoredSchedule> => {
  const id = await idOf(context, 'schedule', ref)
  return found('schedule', id, await context.store.schedules.find(id))
}

export const listSchedules = route(
  {
    endpoint: 'GET /schedules',
    summary: 'List the schedules, newest first',
    role: 'viewer',
    ...pages(Schedule, {}),
  },
  async ({ store }, { page }) => {
    const { data, ...rest } = await store.schedules.list(page)
    return { ...rest, data: (await shownAll({ store }, data)).map(listed) }
  },
)

const DRAFT_ERRORS = [
  'local_disabled',
  'workflow_not_found',
  'invalid_workflow',
  'invalid_target',
  'target_refused',
  'conflict',
] as const

export const createSchedule = route(
  {
    endpoint: 'POST /schedules',
    summary: 'Start a workflow on a schedule, on events or on file changes',
    description:
      'The same triggers as in workflow files. The default of `trigger_type` is cron; cron requires `schedule`, event `event_topic` and watch `watch_path`. Forms of existing clients are accepted: fields that are null count as missing, target and params may be in `input_config`, and fields that have no effect are reported in `warnings`.',
    role: 'admin',
    body: CreateSchedule,
    reads: readScheduleForm,
    responses: { 201: Changed },
    errors: DRAFT_ERRORS,
  },
  async (context, { body }) => {
    if (body.run_mode === 'local') await refuseMode(body.run_mode, context)
    const draft = await draftOf(context.catalog, body)
    await checkedTrigger(context.receiver, draft)
    const data = await context.store.schedules.add(draft)
    if (data === undefined) throw tooManySchedules()
    await context.receiver.registry.current()
    return await changed(context, 'Schedule created', data, body)
  },
)

export const getSchedule = route(
  {
    endpoint: 'GET /schedules/{id}',
    summary: 'Read one schedule',
    role: 'viewer',
    params: NamedPath,
    responses: { 200: wrapped(Schedule) },
    errors: ['conflict'],
  },
  async (context, { params }) => ({ data: await shownOne(context, await foundSchedule(context, params.id)) }),
)

export const changeSchedule = route(
  {
    endpoint: 'PUT /schedules/{id}',
    summary: 'Change fields of a schedule; takes effect immediately',
    role: 'admin',
    params: NamedPath,
    body: ChangeSchedule,
    reads: readScheduleForm,
    responses: { 200: Changed },
    errors: ['not_found', ...DRAFT_ERRORS],
  },
  async (context, { params, body }) => {
    if (body.run_mode === 'local') await refuseMode(body.run_mode, context)
    const stored = await foundSchedule(context, params.id)
    const draft = await draftOf(context.catalog, restored(body, stored), stored)
    await checkedTrigger(context.receiver, draft)
    const data = found('schedule', params.id, await context.store.schedules.replace(stored.id, draft))
    await context.receiver.registry.current()
    return await changed(context, 'Schedule updated', data, body)
  },
)

export const removeSchedule = route(
  {
    endpoint: 'DELETE /schedules/{id}',
    summary: 'Delete a schedule; its runs are kept',
    role: 'admin',
    params: NamedPath,
    responses: { 200: Type.Object({ message: Type.String(), id: Type.String() }) },
    errors: ['conflict'],
  },
  async (context, { params }) => {
    const id = await idOf(context, 'schedule', params.id)
    if (!(await context.store.schedules.remove(id))) throw missing('schedule', id)
    return { message: 'Schedule deleted', id }
  },
)

const switching = (word: 'enable' | 'disable') =>
  route(
    {
      endpoint: `POST /schedules/{id}/${word}`,
      summary: word === 'enable' ? 'Enable a schedule from now on' : 'Disable a schedule',
      role: 'admin',
      params: NamedPath,
      responses: { 200: Changed },
      errors: ['conflict'],
    },
    async (context, { params }) => {
      const schedule = await foundSchedule(context, params.id)
      const switched = { ...schedule, is_enabled: word === 'enable' }
      const data = await context.store.schedules.replace(schedule.id, switched)
      await context.receiver.registry.current()
      const message = `Schedule ${word}d`
      return { message, data: await shownOne(context, found('schedule', params.id, data)) }
    },
  )

export const enableSchedule = switching('enable')
export const disableSchedule = switching('disable')

export const triggerSchedule = route(
  {
    endpoint: 'POST /schedules/{id}/trigger',
    summary: 'Start a schedule now, even if it is disabled',
    role: 'operator',
    params: NamedPath,
    responses: {
      202: Type.Object({
        message: Type.String(),
        schedule: Type.String(),
        workflow: Type.String(),
        job_id: Type.String(),
        poll_url: Type.String(),
      }),
    },
    errors: ['not_found', 'wrong_state', ...DRAFT_ERRORS],
  },
  async (context, { params, http }) => {
    const { receiver, store, notifier } = context
    const schedule = await foundSchedule(context, params.id)
    const trigger = await checkedTrigger(receiver, schedule)
    const fireContext = { fireKey: `now:${randomUUID()}`, at: new Date(), data: { asked: 'true' } }
    const planned = await planScheduled(receiver.planning, trigger, fireContext, http.signal())
    if (planned.plan === undefined) throw new AppError('invalid_input', planned.error)
    const fired = await store.triggers.fireNow(planned)
    await receiver.settle(fired)
    notifier.notify()
    const [{ outcome, error, jobId } = { outcome: 'failed', error: 'no run was created', jobId: '' }] = fired
    if (outcome === 'skipped' || outcome === 'deduped')
      throw new AppError(
        'wrong_state',
        'the runs of the previous execution have not ended, and the overlap of the schedule is skip',
      )
    if (jobId === '') throw new Error(`a schedule could not be started: ${error}`)
    return json(202, {
      message: 'Schedule triggered',
      schedule: schedule.name,
      workflow: schedule.workflow_name,
      job_id: jobId,
      poll_url: `${http.root}/jobs/${jobId}`,
    })
  },
)
