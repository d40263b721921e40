import {
  closed,
  named,
  type ChangeKind,
  NullableTimestamp,
  Pagination,
  RunOutcome,
  ScheduledTriggerType,
  Seen,
  Severity,
  Timestamp,
  Verdict,
} from '@scanfarm/contracts'
import type { Night, NightJob } from '@scanfarm/store'
import { Type, type Static, type TSchema } from 'typebox'
import { route } from '../../http/route.ts'
import { noJob } from '../runs/jobs.ts'
import { shownAll } from '../schedules/schedules.ts'
import { pageQuery } from '../paging.ts'

const Count = Type.Integer({ minimum: 0 })

const Some = Type.Optional(Count)
export const Severities = Type.Object(
  { critical: Some, high: Some, medium: Some, low: Some, info: Some },
  { description: 'By severity; one without findings is left out' },
)

const Job = Type.Object(
  {
    job_id: Type.String(),
    created_at: Timestamp,
    ended_at: Timestamp,
    outcome: RunOutcome,
    is_cancelled: Type.Boolean(),
    target_count: Count,
    completed: Count,
    failed: Count,
    cancelled: Count,
    clean: Count,
    partial: Count,
    nothing_done: Count,
  },
  { $id: 'NightJob', description: 'An ended job; runs by status and by outcome' },
)

const ShownNight = named('Night', {
  schedule_id: Type.String(),
  name: Type.String(),
  workflow_name: Type.String(),
  trigger_type: ScheduledTriggerType,
  enabled: Type.Boolean(),
  next_run: NullableTimestamp,
  running: Type.Union([Type.Object({ job_id: Type.String(), created_at: Timestamp }), Type.Null()], {
    description: 'Its newest job, if it has not ended',
  }),
  last: Type.Union([Job, Type.Null()]),
  previous: Type.Union([Job, Type.Null()]),
  findings: Type.Object(
    { new: Severities, back: Severities, gone: Severities },
    { description: 'What the last job changed, as in the event schedule.ended' },
  ),
  open: Severities,
  not_tested: Type.Integer({
    minimum: 0,
    description: 'Open findings that the last scan could not test or reach',
  }),
  workspace: Type.String({ description: 'The first workspace of the last job by name, or ""' }),
  workspace_count: Count,
})

const NOTHING: Night = {
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

const shownJob = (job: NightJob | null): Static<typeof Job> | null =>
  job && { ...job, created_at: utc(job.created_at), ended_at: utc(job.ended_at) }

const DEFAULT_LIMIT = 20
const MAX_LIMIT = 100

export const listNights = route(
  {
    endpoint: 'GET /nights',
    summary: 'List the schedules with what their last job did and found',
    description:
      'Those that ran last come first. `findings` counts what was not a false positive or accepted when the job ended. `open` and `not_tested` count in all workspaces of the last job.',
    role: 'viewer',
    query: closed({
      offset: pageQuery.offset,
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_LIMIT, default: DEFAULT_LIMIT })),
    }),
    responses: {
      200: Type.Object({
        data: Type.Array(ShownNight),
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

const ChangedFinding = Type.Object(
  {
    id: Type.Integer(),
    severity: Severity,
    vuln_info: Type.String(),
    vuln_title: Type.String(),
    asset_value: Type.String(),
    workspace: Type.String(),
    seen: Seen,
    seen_reason: Type.String(),
    verdict: Verdict,
    back_at: NullableTimestamp,
  },
  { $id: 'ChangedFinding', description: 'Texts have at most 300 characters' },
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
      throw noJob(since === undefined || (await store.jobs.summary(jobId)) === undefined ? jobId : since)
    return { data: { counts: found.counts, ...found.findings } }
  },
)
