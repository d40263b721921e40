import { page, Run, RunMode, RunOutcome, RunStatus } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { aliased } from '../alias.ts'
import { List, wordsOf } from '../comma-list.ts'
import { orgOf, orgQuery } from '../org-filter.ts'
import { pageBody, pageQuery, pageRequest } from '../paging.ts'
import { shownRun } from './shown-run.ts'

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
        outcome: List(`Of ended runs: ${RunOutcome.enum.join(', ')}; several separated by commas`),
        workflow_name: Type.Optional(Type.String()),
        workflow: Type.Optional(Type.String({ description: 'Other name of workflow_name' })),
        target: Type.Optional(Type.String({ description: 'Exact' })),
        workspace: Type.Optional(Type.String()),
        run_mode: Type.Optional(RunMode),
        job_id: Type.Optional(Type.String()),
        run_group_id: Type.Optional(Type.String({ description: 'Other name of job_id' })),
        ...orgQuery,
        ...pageQuery,
      },
      { additionalProperties: false },
    ),
    responses: { 200: page(Run) },
    errors: ['invalid_input'],
  },
  async ({ store }, { query, http }) => {
    const { status, target, workspace, run_mode: runMode } = query
    const workflowName = aliased(query, 'workflow_name', 'workflow')
    const jobId = aliased(query, 'job_id', 'run_group_id')
    const request = pageRequest(query)
    const outcomes = wordsOf('outcome', query.outcome, RunOutcome.enum)
    const org = await orgOf(store, query.org)
    const filter = { status, outcomes, workflowName, target, workspace, runMode, jobId, org }
    const found = await store.runs.list(filter, request)
    return pageBody({ ...found, data: found.data.map((run) => shownRun(http.root, run)) }, request)
  },
)
