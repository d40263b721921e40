import { TOOL, WorkflowGraph, WorkflowKind, WorkflowProblem, wrapped } from '@scanfarm/contracts'
import { needsTarget, type ResolvedWorkflow } from '@scanfarm/language'
import type { Store } from '@scanfarm/store'
import { Type } from 'typebox'
import { route } from '../../http/route.ts'
import { graphOf } from './graph-files.ts'
import { Param, shownParams } from './workflows.ts'

/** Most workers that are named for one program; the count counts all. */
const MAX_WORKERS = 50

const Tool = Type.Object({
  name: Type.String(),
  used_by: Type.Array(Type.String(), { description: 'The modules that declare it, and the workflow itself' }),
  workers: Type.Integer({
    description: 'Workers and servers with local slots that are not lost and have it',
  }),
  worker_ids: Type.Array(Type.String(), { description: `At most ${MAX_WORKERS} of them` }),
})

const toolsOf = async ({ workers }: Store, { root, modules }: ResolvedWorkflow) => {
  const declared = [[root.name, root] as const, ...Object.entries(modules)].flatMap(([by, workflow]) =>
    (workflow.dependencies?.commands ?? []).map((name) => ({ name, by })),
  )
  const wanted = [...Map.groupBy(declared, ({ name }) => name)].sort(([a], [b]) => a.localeCompare(b))
  if (wanted.length === 0) return []
  const alive = (await workers.list()).data.filter(({ status }) => status !== 'lost')
  return wanted.map(([name, users]) => {
    const having = alive.filter(({ capabilities }) => capabilities.includes(TOOL + name))
    return {
      name,
      used_by: [...new Set(users.map(({ by }) => by))],
      workers: having.length,
      worker_ids: having.slice(0, MAX_WORKERS).map(({ id }) => id),
    }
  })
}

export const getWorkflowGraph = route(
  {
    endpoint: 'GET /workflows/{name}/graph',
    summary:
      'Read a workflow as a graph, with its source, problems, params and the workers that have its programs',
    description:
      'Nodes contain each other by `parent`: the workflow contains modules and hooks, these contain steps, and steps contain steps. Edges connect nodes with the same parent. A workflow that has errors is drawn as far as it can be read.',
    role: 'viewer',
    responses: {
      200: wrapped(
        Type.Object({
          name: Type.String(),
          kind: WorkflowKind,
          description: Type.String(),
          tags: Type.Array(Type.String()),
          valid: Type.Boolean({ description: 'False: it has errors and cannot be started' }),
          needs_target: Type.Boolean(),
          example_targets: Type.Array(Type.String()),
          usage: Type.String(),
          file_path: Type.String(),
          source: Type.String({ description: '`uploaded`, or a folder on the server' }),
          yaml: Type.String(),
          params: Type.Array(Param),
          problems: Type.Array(WorkflowProblem),
          tools: Type.Array(Tool),
          graph: WorkflowGraph,
        }),
      ),
    },
    errors: ['workflow_not_found', 'unavailable'],
  },
  async ({ catalog, checker, store }, { params }) => {
    const entry = await catalog.find(params.name)
    const { graph, resolved, read } = await graphOf({ catalog, checker }, entry)
    const { example_targets = [], usage = '' } = (resolved?.root ?? read.outline?.workflow)?.help ?? {}
    const data = {
      name: entry.name,
      kind: entry.kind,
      description: entry.description,
      tags: [...entry.tags],
      valid: resolved !== undefined,
      needs_target: resolved === undefined || needsTarget(resolved),
      example_targets: [...example_targets],
      usage,
      file_path: entry.path,
      source: entry.source,
      yaml: read.yaml,
      params: shownParams(resolved?.root.params ?? entry.params),
      problems: [...entry.problems],
      tools: resolved === undefined ? [] : await toolsOf(store, resolved),
      graph,
    }
    return { data }
  },
)
