import { AppError } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { RunPath } from './run-path.ts'
import { ARTIFACT_RESPONSES, sendArtifact } from './send-artifact.ts'

export const readArtifact = route(
  {
    method: 'get',
    path: '/runs/{id}/artifacts/{artifact_id}/content',
    tag: 'Runs',
    summary: 'Download an artifact',
    description:
      'Takes `Range` and `If-None-Match`. Always an attachment: artifacts may hold hostile content.',
    role: 'viewer',
    params: Type.Object({
      ...RunPath.properties,
      artifact_id: Type.String({ description: 'id of the artifact' }),
    }),
    responses: ARTIFACT_RESPONSES,
    errors: ['not_found', 'range_not_satisfiable'],
  },
  async ({ store, artifacts }, { params, http }) => {
    const artifact = await store.runs.artifact(params.id, params.artifact_id)
    if (artifact === undefined)
      throw new AppError(
        'not_found',
        `there is no artifact ${JSON.stringify(params.artifact_id)} of this run`,
      )
    return sendArtifact(artifacts, artifact, http.headers)
  },
)
