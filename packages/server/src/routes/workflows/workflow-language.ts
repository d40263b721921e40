import { closed, WorkflowGraph, WorkflowProblem } from '@scanfarm/contracts'
import { hasErrors, workflowJsonSchema } from '@scanfarm/language'
import { buffer } from 'node:stream/consumers'
import { Type } from 'typebox'
import { checkWorkflow, MAX_PROBLEMS, workflowFile, workflowText } from './check-upload.ts'
import { graphOfFile } from './graph-files.ts'
import { text } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { receiveBody } from '../../http/body/receive-file.ts'
import { MAX_WORKFLOW_BYTES } from './upload-workflow.ts'

export const lintWorkflow = route(
  {
    endpoint: 'POST /workflows/lint',
    summary: 'Check a workflow file without adding it',
    description: `The file is the body, or the field \`file\` of a form. It is checked on its own, like an upload: workflows that it refers to are not loaded. The first ${MAX_PROBLEMS} problems are returned, and one more that counts the rest.`,
    role: 'viewer',
    query: closed({
      graph: Type.Optional(Type.Boolean({ description: 'Return the graph of the file too' })),
    }),
    file: { description: 'A workflow in YAML, at most 1 MiB' },
    responses: {
      200: Type.Object({
        valid: Type.Boolean({ description: 'False: the file has errors, and an upload would be refused' }),
        problems: Type.Array(WorkflowProblem),
        graph: Type.Optional(WorkflowGraph),
      }),
    },
    errors: ['invalid_workflow', 'payload_too_large', 'unsupported_media_type', 'unavailable'],
  },
  async ({ checker }, { query: { graph = false }, http }) =>
    receiveBody(http.stream, MAX_WORKFLOW_BYTES, async (body, filename) => {
      const text = workflowText(await buffer(body))
      const file = workflowFile(filename)
      const { problems, outline } = await checkWorkflow(checker, file, text, graph)
      return {
        valid: !hasErrors(problems),
        problems: [...problems],
        ...(graph ? { graph: graphOfFile(file, outline) } : {}),
      }
    }),
)

let made: string | undefined
const schemaText = (): string => (made ??= JSON.stringify(workflowJsonSchema()))

export const workflowSchema = route(
  {
    endpoint: 'GET /workflow.schema.json',
    summary: 'Read the JSON Schema of the workflow language, for editors',
    role: 'public',
    bare: true,
    responses: { 200: { media: ['application/schema+json'], description: 'The schema' } },
  },
  async () => text(200, 'application/schema+json; charset=utf-8', schemaText()),
)
