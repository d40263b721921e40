import {
  ChangedFinding,
  closed,
  Night,
  Pagination,
  Severities,
  type ChangeKind,
  type NightJob,
} from '@scanfarm/contracts'
import type { RunNight } from '@scanfarm/store'
import { Type, type TSchema } from 'typebox'
import { route } from '../../http/route.ts'
import { shownAll } from '../schedules/schedules.ts'
import { pageQuery } from '../../http/paging.ts'
import { missing } from '../../http/refusal.ts'

const NOTHING: RunNight = {
  running: null,
  last: null,
  previous: null,
  findings: { new: {}, back: {}, gone: {} },
  open: {},
  not_tested: 0,
  workspace: '',
  workspace_count: 0,
}

const utc = (time: string): string => new Date(time).toISOString()

const shownJob = (job: NightJob | null): NightJob | null =>
  job && { ...job, created_at: utc(job.created_at), ended_at: utc(job.ended_at) }

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

export const listNights = route(
  {
    endpoint: 'GET /nights',
    summary: 'List the schedules with what their last job did and found',
    description:
      'Those that ran last come first. `findings` and `not_tested` are those of the end of the job, as in its changes; `open` counts what is open now in all its workspaces.',
    role: 'viewer',
    query: closed({
      offset: pageQuery.offset,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })),
    }),
    responses: {
      200: Type.Object({
        data: Type.Array(Night),
        open: Type.Object(Severities.properties, { description: 'Open findings of the whole farm' }),
        pagination: Pagination,
      }),
    },
  },
  async ({ store }, { query: { offset = 0, limit = DEFAULT_LIMIT } }) => {
    const [{ data, total }, open] = await Promise.all([
      store.schedules.latest(limit, offset),
      store.vulnerabilities.summary({ state: 'open' }),
    ])
    const [nights, schedules] = await Promise.all([
      store.nights.of(data.map(({ id }) => id)),
      shownAll({ store }, data),
    ])
    return {
      data: schedules.map(({ id, name, workflow_name, trigger_type, is_enabled: enabled, next_run }) => {
        const night = nights.get(id) ?? NOTHING
        return {
          schedule_id: id,
          name,
          workflow_name,
          trigger_type,
          enabled,
          next_run,
          ...night,
          running: night.running && { ...night.running, created_at: utc(night.running.created_at) },
          last: shownJob(night.last),
          previous: shownJob(night.previous),
        }
      }),
      open,
      pagination: { total, offset, limit },
    }
  },
)

const byKind = <T extends TSchema>(value: T): Record<ChangeKind, T> => ({
  new: value,
  back: value,
  gone: value,
  not_tested: value,
})

const MOST_CHANGES = 1_000

export const getJobChanges = route(
  {
    endpoint: 'GET /jobs/{job_id}/changes',
    summary: 'List the findings that a job changed',
    description:
      'New, back and gone, and those not tested or reached, the most severe first. With `since`: what changed in its workspaces after the end of that earlier job; those of mode delta have the workspaces of all jobs of their kind since then. Severities are those of the end of the job; what was a false positive or accepted then is left out. The counts are those of `GET /nights`.',
    role: 'viewer',
    query: closed({
      since: Type.Optional(Type.String({ description: 'The id of an earlier job' })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: MOST_CHANGES,
          default: 200,
          description: 'Most findings of each list; the counts count all',
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        data: Type.Object({
          counts: Type.Object(byKind(Severities)),
          ...byKind(Type.Array(ChangedFinding)),
        }),
      }),
    },
  },
  async ({ store }, { params: { job_id: jobId }, query: { since, limit = 200 } }) => {
    const found = await store.nights.changes(jobId, since, limit)
    if (found === undefined)
      throw missing(
        'job',
        since === undefined || (await store.jobs.summary(jobId)) === undefined ? jobId : since,
      )
    return { data: { counts: found.counts, ...found.findings } }
  },
)
