import { AppError, closed, Artifact, RunAttempt, Step } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { ARTIFACT_RESPONSES, sendArtifact } from '../artifacts/send-artifact.ts'
import { part, partBody, partQuery } from '../../http/paging.ts'
import { RunPath } from './read-runs.ts'
import { found } from '../../http/refusal.ts'

export const listSteps = route(
  {
    endpoint: 'GET /runs/{id}/steps',
    summary: 'List the steps of the latest attempt, in order',
    role: 'viewer',
    params: RunPath,
    query: partQuery,
    responses: { 200: part(Step) },
  },
  async ({ store }, { params, query: { cursor } }) => {
    const steps = found('run', params.id, await store.runs.steps(params.id, cursor))
    return partBody(steps, cursor)
  },
)

export const listAttempts = route(
  {
    endpoint: 'GET /runs/{id}/attempts',
    summary: 'List the attempts of a run: which worker executed each one, and how it ended',
    description:
      'Oldest first. Of the attempts that did not end the run, the newest 100 are kept. A run that has not been claimed has none.',
    role: 'viewer',
    params: RunPath,
    responses: { 200: Type.Object({ data: Type.Array(RunAttempt) }) },
  },
  async ({ store }, { params }) => {
    const data = found('run', params.id, await store.runs.attempts(params.id))
    return { data }
  },
)

export const listArtifacts = route(
  {
    endpoint: 'GET /runs/{id}/artifacts',
    summary: 'List the artifacts',
    role: 'viewer',
    params: RunPath,
    query: partQuery,
    responses: { 200: part(Artifact) },
  },
  async ({ store }, { params, query: { cursor } }) => {
    const artifacts = found('run', params.id, await store.runs.artifacts(params.id, cursor))
    return partBody(artifacts, cursor)
  },
)

export const readArtifact = route(
  {
    endpoint: 'GET /runs/{id}/artifacts/{artifact_id}/content',
    summary: 'Download an artifact',
    description:
      'Supports `Range` and `If-None-Match`. The content is an attachment, because it may be hostile. With `view=frame` texts, HTML, images and PDF can be shown in a frame of the console: a sandbox without scripts, without requests and without the cookie.',
    role: 'viewer',
    params: Type.Object({
      ...RunPath.properties,
      artifact_id: Type.String({ description: 'id of the artifact' }),
    }),
    query: closed({
      view: Type.Optional(Type.Enum(['frame'], { description: 'frame: to show it in a frame' })),
    }),
    responses: ARTIFACT_RESPONSES,
    errors: ['range_not_satisfiable', 'unsupported_media_type'],
  },
  async ({ store, artifacts }, { params, query, http }) => {
    const artifact = await store.runs.artifact(params.id, params.artifact_id)
    if (artifact === undefined)
      throw new AppError('not_found', `this run has no artifact ${JSON.stringify(params.artifact_id)}`)
    return sendArtifact(artifacts, artifact, http.headers, query.view === 'frame')
  },
)
