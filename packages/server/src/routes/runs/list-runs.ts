import { page, Run, RunMode, RunStatus } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { aliased } from '../alias.ts'
import { pageBody, pageQuery, pageRequest } from '../paging.ts'

export const listRuns = route(
  {
    method: 'get',
    path: '/runs',
    tag: 'Runs',
    summary: 'List runs, newest first',
    role: 'viewer',
    query: Type.Object(
      {
        status: Type.Optional(RunStatus),
        workflow_name: Type.Optional(Type.String()),
        workflow: Type.Optional(Type.String({ description: 'Other name of workflow_name' })),
        target: Type.Optional(Type.String({ description: 'Exact' })),
        workspace: Type.Optional(Type.String()),
        run_mode: Type.Optional(RunMode),
        job_id: Type.Optional(Type.String()),
        run_group_id: Type.Optional(Type.String({ description: 'Other name of job_id' })),
        ...pageQuery,
      },
      { additionalProperties: false },
    ),
    responses: { 200: page(Run) },
  },
  async ({ store }, { query }) => {
    const { status, target, workspace, run_mode: runMode } = query
    const workflowName = aliased(query, 'workflow_name', 'workflow')
    const jobId = aliased(query, 'job_id', 'run_group_id')
    const request = pageRequest(query)
    const filter = { status, workflowName, target, workspace, runMode, jobId }
    return pageBody(await store.runs.list(filter, request), request)
  },
)
