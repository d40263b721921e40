import { closed, StringMap, TOOL, WorkerTool, WorkflowKind, wrapped, type Worker } from '@scanfarm/contracts'
import { checkParams, possibleModules, requirements, targetMismatch } from '@scanfarm/engine'
import { isListedTool } from '@scanfarm/worker'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { operatorVariables } from '../../submission/plan-job.ts'

/** Maximum number of workers in an answer. */
const MAX_WORKERS = 200

const Able = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum(['worker', 'server']),
  status: Type.Enum(['idle', 'busy', 'draining', 'lost']),
  able: Type.Boolean({ description: 'Nothing that the runs need is known to be missing' }),
  missing: Type.Array(Type.String(), { description: 'Of `needs`' }),
  tools: Type.Array(WorkerTool, {
    description: 'Of the programs that the runs need, those whose version is known',
  }),
})

/** The local slots of a server offer no capabilities, but report the programs of the manifest once they have asked them. */
const missingOf = ({ kind, capabilities, tools }: Worker, needs: readonly string[]): string[] => {
  if (kind === 'worker') return needs.filter((need) => !capabilities.includes(need))
  const isReported = (name: string): boolean => tools.some((tool) => tool.name === name)
  return needs.filter((need) => {
    const name = need.startsWith(TOOL) ? need.slice(TOOL.length) : ''
    return tools.length > 0 && isListedTool(name) && !isReported(name)
  })
}

export const checkWorkflowNeeds = route(
  {
    endpoint: 'POST /workflows/{name}/needs',
    summary: 'Tell what runs of a workflow with these params would need, and which live workers have it',
    description:
      'Starts nothing. Programs of modules that would certainly not run do not count. Local slots of servers execute local runs; of what these need, only missing programs of the shipped manifest are known.',
    role: 'viewer',
    body: closed({
      params: Type.Optional(StringMap),
      target: Type.Optional(Type.String({ maxLength: 2048 })),
    }),
    // Params have their own validation.
    anyText: true,
    responses: {
      200: wrapped(
        Type.Object({
          name: Type.String(),
          kind: WorkflowKind,
          needs: Type.Array(Type.String(), { description: '`tool:NAME`, or `docker`' }),
          problems: Type.Array(Type.Object({ path: Type.String(), message: Type.String() }), {
            description: 'Why a request with these params and this target would be refused',
          }),
          workers: Type.Array(Able, { description: `Live workers, at most ${MAX_WORKERS}` }),
        }),
      ),
    },
    errors: ['workflow_not_found', 'invalid_workflow'],
  },
  async ({ catalog, store, config }, { params: { name }, body }) => {
    const entry = await catalog.find(name)
    const { resolved } = await catalog.pin(entry.name, entry.kind)
    const { params = {}, target } = body
    const problems = [...checkParams(resolved, params)]
    const mismatch = target === undefined ? undefined : targetMismatch(resolved, target)
    const modules = await possibleModules(resolved, {
      params: problems.length > 0 ? {} : params,
      targets: target === undefined ? undefined : [target],
      operatorVariables: operatorVariables(config),
    })
    const needs = requirements(resolved, { modules })
    const alive = (await store.workers.list()).data.filter(({ status }) => status !== 'lost')
    const workers = alive.slice(0, MAX_WORKERS).map((worker) => {
      const { id, kind, status, tools } = worker
      const missing = missingOf(worker, needs)
      const has = tools.filter((tool) => needs.includes(TOOL + tool.name))
      return { id, name: worker.name, kind, status, able: missing.length === 0, missing, tools: has }
    })
    const all = mismatch === undefined ? problems : [...problems, { path: '/target', message: mismatch }]
    return { data: { name: entry.name, kind: entry.kind, needs, problems: all, workers } }
  },
)
