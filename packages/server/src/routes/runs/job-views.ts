import { createHash } from 'node:crypto'
import { closed, JobFailures, JobProgress, JobSummary, Priority, TriggerType } from '@scanfarm/contracts'
import { JOB_SORTS, JOB_STATES, STRIP_RUNS, type CountedJob, type JobState } from '@scanfarm/store'
import { Type } from 'typebox'
import { json, nothing } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { pageQuery } from '../../http/paging.ts'
import { Sort } from '../query.ts'
import { found } from '../../http/refusal.ts'

const Count = Type.Integer({ minimum: 0 })

type Status = Exclude<JobState, 'ended'>

/** Its runs may have ended seconds before the job has its outcome. */
const statusOf = ({ counts, target_count: total }: CountedJob): Status => {
  if (counts === null || counts.pending + counts.running > 0) return 'open'
  return (['completed', 'failed', 'cancelled'] as const).find((name) => counts[name] === total) ?? 'partial'
}

const shown = (job: CountedJob): JobSummary => ({ ...job, status: statusOf(job) })

export const listJobs = route(
  {
    endpoint: 'GET /jobs',
    summary: 'List jobs, newest first or sorted',
    description:
      'A page with filters and without `sort` looks at up to 50,000 jobs: it may have fewer than `limit` although `next_cursor` shows that more follow.',
    role: 'viewer',
    query: closed({
      workflow: Type.Optional(Type.String({ maxLength: 256 })),
      status: Type.Optional(
        Type.Enum([...JOB_STATES], {
          description:
            'open: a run has not ended; ended: all have; completed, failed, cancelled: all ended so; partial: they ended differently',
        }),
      ),
      trigger: Type.Optional(TriggerType),
      priority: Type.Optional(Priority),
      search: Type.Optional(
        Type.String({ pattern: '^[0-9a-f]{1,16}$', description: 'The beginning of the job id' }),
      ),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 200, default: 20, description: 'Most jobs of the page' }),
      ),
      cursor: pageQuery.cursor,
      sort: Sort(JOB_SORTS),
    }),
    responses: {
      200: Type.Object({
        data: Type.Array(JobSummary),
        pagination: Type.Object({
          limit: Count,
          next_cursor: Type.Optional(Type.String({ description: 'Pass as cursor to get the next page' })),
        }),
      }),
    },
    errors: ['bad_request'],
  },
  async ({ store }, { query }) => {
    const { workflow, status: state, trigger, priority, search: idPrefix, limit = 20, cursor, sort } = query
    const { data, nextCursor } = await store.jobs.list(
      { workflow, state, trigger, priority, idPrefix },
      { limit, cursor, sort },
    )
    return {
      data: data.map(shown).filter(({ status }) => state !== 'open' || status === 'open'),
      pagination: { limit, ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }) },
    }
  },
)

export const getJobSummary = route(
  {
    endpoint: 'GET /jobs/{job_id}/summary',
    summary: 'Read a job without its runs',
    role: 'viewer',
    responses: { 200: Type.Object({ data: JobSummary }) },
  },
  async ({ store }, { params }) => {
    return { data: shown(found('job', params.job_id, await store.jobs.summary(params.job_id))) }
  },
)

export const getJobStrip = route(
  {
    endpoint: 'GET /jobs/{job_id}/strip',
    summary: 'Read the states of all targets of a job, in order',
    description:
      'One letter for each run: `p` pending, `q` queued, `r` running, `c` completed (clean, or before outcomes were recorded), `a` completed partially, `n` completed with nothing done, `f` failed, `x` cancelled. Letters that repeat are shortened to the letter and a count: `c3f` is `cccf`. `ids` has the ids of these runs, as pairs of the first id and the number of consecutive ids. An answer has an `ETag`: send it as `If-None-Match` to poll.',
    role: 'viewer',
    query: closed({
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: STRIP_RUNS,
          default: STRIP_RUNS,
          description: 'Most runs of one answer',
        }),
      ),
      cursor: pageQuery.cursor,
    }),
    responses: {
      200: Type.Object({
        job_id: Type.String(),
        total: Type.Integer({ minimum: 0, description: 'Targets of the job' }),
        without_run: Type.Integer({ minimum: 0, description: 'Targets at the end that have no run yet' }),
        states: Type.String(),
        ids: Type.Array(Type.Array(Type.Integer(), { minItems: 2, maxItems: 2 })),
        next_cursor: Type.Optional(Type.String({ description: 'Pass as cursor to get the next runs' })),
      }),
      304: { media: [], description: 'The states are those of the `ETag` in `If-None-Match`' },
    },
    errors: ['bad_request'],
  },
  async ({ store }, { params, query, http }) => {
    const { cursor, limit = STRIP_RUNS } = query
    const strip = await store.jobs.strip(params.job_id, cursor, limit)
    const { letters, nextCursor, ...counts } = found('job', params.job_id, strip)
    const body = {
      job_id: params.job_id,
      ...counts,
      states: letters.replaceAll(/([a-z])\1+/g, (run, letter: string) => `${letter}${run.length}`),
      ...(nextCursor === undefined ? {} : { next_cursor: nextCursor }),
    }
    const ETag = `"${createHash('sha256').update(JSON.stringify(body)).digest('base64url').slice(0, 22)}"`
    return http.headers['if-none-match'] === ETag ? nothing(304, { ETag }) : json(200, body, { ETag })
  },
)

export const getJobFailures = route(
  {
    endpoint: 'GET /jobs/{job_id}/failures',
    summary: 'Group the failed runs of a job by message',
    description:
      'Runs that failed, or completed with the outcome partial or nothing_done. Messages that differ only in numbers, hosts, addresses, URLs, uuids and long hex numbers are one group. Largest groups first, at most 100; the first 200,000 runs of the job are looked at.',
    role: 'viewer',
    responses: { 200: JobFailures },
  },
  async ({ store }, { params }) => {
    return found('job', params.job_id, await store.jobs.failures(params.job_id))
  },
)

export const getJobProgress = route(
  {
    endpoint: 'GET /jobs/{job_id}/progress',
    summary: 'Read the throughput of a job and when it is expected to end',
    description:
      'The estimate comes from the last 200 ends. `early_seconds` and `late_seconds` are a range, from the fast and slow parts of that time; they are null, with a reason, while too little is known. The answer for a large job may be some seconds old.',
    role: 'viewer',
    responses: {
      200: Type.Object({
        job_id: Type.String(),
        ...JobProgress.properties,
      }),
    },
  },
  async ({ store }, { params }) => {
    const progress = await store.jobs.progress(params.job_id)
    return { job_id: params.job_id, ...found('job', params.job_id, progress) }
  },
)
