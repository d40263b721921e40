import {
  closed,
  Artifact,
  page,
  picked,
  Priority,
  Run,
  RunDetail,
  RunMode,
  RunOutcome,
  RunStatus,
  Step,
} from '@scanfarm/contracts'
import { RUN_SORTS } from '@scanfarm/store'
import { Type } from 'typebox'
import type { ServerContext } from '../../context.ts'
import { route } from '../../http/route.ts'
import { pageQuery } from '../../http/paging.ts'
import { aliased, Sort, wordsOf, WordList } from '../query.ts'
import { runShape } from '../../compat/runs.ts'
import { listed } from './listed.ts'
import { orgOf, orgQuery } from '../workspaces/orgs.ts'
import { found } from '../../http/refusal.ts'

export const RunPath = Type.Object({ id: Type.String({ description: 'Number or run_uuid of the run' }) })

const parentOf = async (
  store: ServerContext['store'],
  parent: string | undefined,
): Promise<number | undefined> => {
  if (parent === undefined) return undefined
  const run = found('run', parent, await store.runs.find(parent))
  return run.id
}

export const listRuns = route(
  {
    endpoint: 'GET /runs',
    summary: 'List runs, newest first or sorted',
    role: 'viewer',
    query: closed({
      status: Type.Optional(RunStatus),
      outcome: WordList(RunOutcome.enum, 'Of ended runs; one or more, separated by commas'),
      workflow_name: Type.Optional(Type.String()),
      workflow: Type.Optional(Type.String({ description: 'Alias of workflow_name' })),
      target: Type.Optional(Type.String({ description: 'Exact' })),
      workspace: Type.Optional(Type.String()),
      run_mode: Type.Optional(RunMode),
      priority: Type.Optional(Priority),
      job_id: Type.Optional(Type.String()),
      run_group_id: Type.Optional(Type.String({ description: 'Alias of job_id' })),
      parent: Type.Optional(
        Type.String({
          description:
            'Number or run_uuid of a run: the runs that execute batches of its loops, which are not listed otherwise',
        }),
      ),
      ...orgQuery,
      ...pageQuery,
      sort: Sort(RUN_SORTS),
    }),
    responses: { 200: page(Run) },
    errors: ['not_found'],
  },
  async (context, { query, page: request, http }) => {
    const { store } = context
    const filter = {
      ...picked(query, ['status', 'target', 'workspace', 'priority']),
      runMode: query.run_mode,
      workflowName: aliased(query, 'workflow_name', 'workflow'),
      jobId: aliased(query, 'job_id', 'run_group_id'),
      outcomes: wordsOf('outcome', query.outcome, RunOutcome.enum),
      org: await orgOf(store, query.org),
      parent: await parentOf(store, query.parent),
    }
    const runs = await store.runs.list(filter, { ...request, sort: query.sort })
    const shown = await runShape(context, http.root)
    return { ...runs, data: runs.data.map((run) => listed(shown(run))) }
  },
)

const MORE = 'The list reached its size limit:'

const WithParts = Type.Object({
  ...RunDetail.properties,
  steps: Type.Optional(Type.Array(Step)),
  artifacts: Type.Optional(Type.Array(Artifact)),
  steps_truncated: Type.Optional(Type.Literal(true, { description: `${MORE} GET /runs/{id}/steps has all` })),
  artifacts_truncated: Type.Optional(
    Type.Literal(true, { description: `${MORE} GET /runs/{id}/artifacts has all` }),
  ),
})

export const getRun = route(
  {
    endpoint: 'GET /runs/{id}',
    summary: 'Read one run',
    role: 'viewer',
    params: RunPath,
    query: closed({
      include_steps: Type.Optional(Type.Boolean({ description: 'Add the steps as `steps`' })),
      include_artifacts: Type.Optional(Type.Boolean({ description: 'Add the artifacts as `artifacts`' })),
    }),
    responses: { 200: Type.Object({ data: WithParts }) },
  },
  async (context, { params, query, http }) => {
    const { store } = context
    const run = found('run', params.id, await store.runs.find(params.id))
    const steps = query.include_steps ? await store.runs.steps(params.id) : undefined
    const artifacts = query.include_artifacts ? await store.runs.artifacts(params.id) : undefined
    const shown = await runShape(context, http.root)
    return {
      data: {
        ...shown(run),
        ...(steps && { steps: steps.data }),
        ...(steps?.truncated && { steps_truncated: true as const }),
        ...(artifacts && { artifacts: artifacts.data }),
        ...(artifacts?.truncated && { artifacts_truncated: true as const }),
      },
    }
  },
)
