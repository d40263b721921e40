import { AppError, closed, named } from '@scanfarm/contracts'
import { CONSOLE_LIMITS, listFunctions, type ListedFunction } from '@scanfarm/engine'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'

const ListedFunctionBody = named('ListedFunction', {
  name: Type.String({ description: 'With its parameters: `trim(text)`' }),
  function: Type.String({ description: 'The name only' }),
  parameters: Type.String(),
  description: Type.String(),
  return_type: Type.String(),
  example: Type.String(),
  tags: Type.Array(Type.String(), { description: 'Its group' }),
  aliases: Type.Array(Type.String(), { description: 'Other names of the function' }),
  eval: Type.Boolean({ description: 'POST /functions/eval can evaluate it' }),
})

/** `Files`, `Artifacts and findings (findings need a server)` → `files`, `artifacts_and_findings` */
const tagOf = (group: string): string =>
  group
    .replace(/\(.*$/, '')
    .trim()
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')

const listed = ({ name, signature, returns, doc, aliases, group, pure }: ListedFunction) => ({
  name: `${name}(${signature})`,
  function: name,
  parameters: `(${signature})`,
  description: doc,
  return_type: returns,
  example: `${name}(${signature})`,
  tags: [tagOf(group)],
  aliases: [...aliases],
  eval: pure,
})

export const functionList = route(
  {
    endpoint: 'GET /functions/list',
    summary: 'List the functions of the workflow language',
    role: 'viewer',
    responses: {
      200: Type.Object({ functions: Type.Array(ListedFunctionBody), total: Type.Integer() }),
    },
  },
  async () => {
    const functions = listFunctions().map(listed)
    return { functions, total: functions.length }
  },
)

const SCRIPT_CHARS = 32_768
const PARAM_CHARS = 65_536
const MAX_PARAMS = 200
const BODY_BYTES = 256 * 1024

export const evaluateFunction = route(
  {
    endpoint: 'POST /functions/eval',
    summary: 'Evaluate an expression of the workflow language',
    description: `The expression is JavaScript in a sandbox. \`target\` and the params are variables, also in \`{{…}}\`. Pure functions can be called, and functions that read files below the folders of the setting target_file.folders. All others would act on the server and are refused: use them in a step of a workflow. Limits: ${CONSOLE_LIMITS.timeMs / 1000} s, ${CONSOLE_LIMITS.memoryBytes >> 20} MiB, ${CONSOLE_LIMITS.chars} characters for each value.`,
    role: 'operator',
    bodyBytes: BODY_BYTES,
    body: closed({
      script: Type.String({ minLength: 1, maxLength: SCRIPT_CHARS }),
      target: Type.Optional(Type.String({ maxLength: PARAM_CHARS })),
      params: Type.Optional(
        Type.Record(Type.String({ maxLength: 128 }), Type.String({ maxLength: PARAM_CHARS }), {
          maxProperties: MAX_PARAMS,
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        result: Type.Unknown(),
        rendered_script: Type.String({ description: 'The expression with its values inserted, for display' }),
        output: Type.String({ description: 'The printed output' }),
      }),
    },
    errors: ['unavailable'],
  },
  async ({ functions, evaluations }, { body, http }) => {
    using _slot = evaluations.acquire()
    const { script, target, params = {} } = body
    const variables = { ...(target === undefined ? {} : { target, Target: target }), ...params }
    const outcome = await functions.evaluate({ script, variables, signal: http.signal() })
    if (outcome.kind === 'error')
      throw new AppError('invalid_input', `the script failed: ${outcome.message}`, {
        details: [{ path: '/script', message: outcome.message }],
      })
    return { result: outcome.value, rendered_script: outcome.rendered, output: outcome.output }
  },
)
