import { AppError, WorkflowKind } from '@scanfarm/contracts'
import { placeOf } from '@scanfarm/language'
import { Type } from 'typebox'
import { buffer } from 'node:stream/consumers'
import { checkUpload } from './check-upload.ts'
import { UPLOADED } from '../../catalog/uploaded-source.ts'
import { route } from '../../http/route.ts'
import { receiveFile } from '../../http/body/receive-file.ts'

/** Maximum size of an uploaded workflow file. */
export const MAX_WORKFLOW_BYTES = 1024 * 1024

export const uploadWorkflow = route(
  {
    endpoint: 'POST /workflow-upload',
    summary: 'Add a workflow, or replace the uploaded one with the same kind and name',
    description: 'The file is checked first and refused if it has errors. All masters then serve it.',
    role: 'admin',
    upload: { description: 'A workflow in YAML, at most 1 MiB' },
    responses: {
      201: Type.Object({
        message: Type.String(),
        name: Type.String(),
        kind: WorkflowKind,
        description: Type.String(),
        path: Type.String(),
        warnings: Type.Array(Type.String()),
      }),
    },
    errors: [
      'invalid_input',
      'invalid_workflow',
      'payload_too_large',
      'unsupported_media_type',
      'unavailable',
    ],
  },
  async ({ store, catalog, checker, config }, { http, caller }) => {
    if (!config.workflows.upload)
      throw new AppError(
        'forbidden',
        'uploading workflows is disabled: set workflows.upload to true in the settings',
      )
    const { entry, yaml, hash } = await receiveFile(
      http.stream,
      MAX_WORKFLOW_BYTES,
      async ({ filename, body }) => checkUpload(checker, filename, await buffer(body)),
    )
    const { name, kind, description } = entry
    await store.workflows.put({ name, kind, yaml, hash, by: `${caller.kind}:${caller.name}` })
    await catalog.reload()
    return {
      message: 'Workflow uploaded',
      name,
      kind,
      description,
      path: `${UPLOADED}/${kind}s/${name}.yaml`,
      warnings: entry.problems.map((problem) => `${placeOf(problem)}: ${problem.message}`),
    }
  },
)
