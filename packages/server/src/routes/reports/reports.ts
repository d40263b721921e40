import { AppError } from '@scanfarm/contracts'
import { reportPage, reportPolicy } from '@scanfarm/findings'
import type { ServerContext } from '../../context.ts'
import { text, type Answer } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { NamedPath } from '../named.ts'
import { foundSchedule } from '../schedules/schedules.ts'
import { found } from '../../http/refusal.ts'

const page = { 200: { media: ['text/html'], description: 'One page, to be read or printed' } } as const
const DESCRIPTION =
  'Scope, coverage with what was not reached, counts with new, back and gone, the age of what is open, and the top issues with advice. The page loads nothing and has no scripts.'

const reportOf = async (
  { store }: Pick<ServerContext, 'store'>,
  jobId: string,
  title: string,
  workspace?: string,
): Promise<Answer> => {
  const facts = found('job', jobId, await store.reports.read(jobId, workspace))
  const body = reportPage({ title, facts, madeAt: new Date().toISOString() })
  return text(200, 'text/html; charset=utf-8', body, {
    'Content-Security-Policy': `${reportPolicy()}; sandbox; frame-ancestors 'none'`,
  })
}

const none = (what: string): AppError =>
  new AppError('not_found', `there is nothing to report yet: no job of ${what} has ended`)

export const reportJob = route(
  {
    endpoint: 'GET /reports/jobs/{job_id}',
    summary: 'Read a report about a job, as a page for a person',
    description: DESCRIPTION,
    role: 'viewer',
    responses: page,
  },
  async (context, { params: { job_id: jobId } }) => await reportOf(context, jobId, `Report of job ${jobId}`),
)

export const reportSchedule = route(
  {
    endpoint: 'GET /reports/schedules/{id}',
    summary: 'Read a report about the last job of a schedule, as a page for a person',
    description: DESCRIPTION,
    role: 'viewer',
    params: NamedPath,
    responses: page,
    errors: ['conflict'],
  },
  async (context, { params }) => {
    const schedule = await foundSchedule(context, params.id)
    const last = (await context.store.nights.of([schedule.id])).get(schedule.id)?.last
    if (!last) throw none(`the schedule ${JSON.stringify(schedule.name)}`)
    return await reportOf(context, last.job_id, `Report of ${schedule.name}`)
  },
)

export const reportWorkspace = route(
  {
    endpoint: 'GET /reports/workspaces/{workspace}',
    summary: 'Read a report about a workspace and the last job in it, as a page for a person',
    description: DESCRIPTION,
    role: 'viewer',
    responses: page,
  },
  async (context, { params: { workspace } }) => {
    const jobId = await context.store.reports.lastJob(workspace)
    if (jobId === undefined) throw none(`the workspace ${JSON.stringify(workspace)}`)
    return await reportOf(context, jobId, `Report of ${workspace}`, workspace)
  },
)
