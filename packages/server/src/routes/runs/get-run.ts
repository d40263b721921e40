import { Artifact, RunDetail, Step } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { noRun, RunPath } from './run-path.ts'
import { shownRun } from './shown-run.ts'

const MORE = 'The list ended at its bound of bytes:'

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
    method: 'get',
    path: '/runs/{id}',
    tag: 'Runs',
    summary: 'Read one run',
    role: 'viewer',
    params: RunPath,
    query: Type.Object(
      {
        include_steps: Type.Optional(Type.Boolean({ description: 'Add the steps as `steps`' })),
        include_artifacts: Type.Optional(Type.Boolean({ description: 'Add the artifacts as `artifacts`' })),
      },
      { additionalProperties: false },
    ),
    responses: { 200: Type.Object({ data: WithParts }) },
    errors: ['not_found'],
  },
  async ({ store }, { params, query, http }) => {
    const run = await store.runs.find(params.id)
    if (run === undefined) throw noRun(params.id)
    const steps = query.include_steps ? await store.runs.steps(params.id) : undefined
    const artifacts = query.include_artifacts ? await store.runs.artifacts(params.id) : undefined
    return {
      data: {
        ...shownRun(http.root, run),
        ...(steps && { steps: steps.data }),
        ...(steps?.truncated && { steps_truncated: true as const }),
        ...(artifacts && { artifacts: artifacts.data }),
        ...(artifacts?.truncated && { artifacts_truncated: true as const }),
      },
    }
  },
)
