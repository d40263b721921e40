import { createHash } from 'node:crypto'
import { closed, named, Pagination, picked, TOOL, WorkflowKind, WorkflowProblem } from '@scanfarm/contracts'
import { placeOf, type WorkflowEntry } from '@scanfarm/language'
import type { Store } from '@scanfarm/store'
import { Type, type Static } from 'typebox'
import type { Catalog } from '../../catalog/catalog.ts'
import { json, text } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import { MAX_LIMIT, pageQuery, pageRequest } from '../../http/paging.ts'

export const Param = Type.Object({
  name: Type.String(),
  type: Type.String({ description: '`string`, `int`, `bool`, `choice`, `path` or `args`' }),
  default: Type.Unknown(),
  required: Type.Boolean(),
  min: Type.Optional(Type.Number({ description: 'For an `int`' })),
  max: Type.Optional(Type.Number({ description: 'For an `int`' })),
  choices: Type.Optional(Type.Array(Type.String(), { description: 'Of a `choice`' })),
  multiple: Type.Optional(
    Type.Boolean({ description: 'A `choice` may have several of the choices, separated by commas' }),
  ),
  description: Type.String(),
})

type Param = Static<typeof Param>

const WorkflowSummary = named('WorkflowSummary', {
  id: Type.Integer({ description: 'A number derived from the name' }),
  name: Type.String(),
  kind: WorkflowKind,
  description: Type.String(),
  tags: Type.Array(Type.String()),
  hidden: Type.Boolean(),
  file_path: Type.String({ description: 'Path within the source' }),
  source: Type.String({ description: '`uploaded`, or a folder on the server' }),
  params: Type.Array(Param),
  required_params: Type.Array(Type.String()),
  step_count: Type.Integer(),
  module_count: Type.Integer(),
  hook_count: Type.Integer(),
  params_json: Type.String({ description: '`params` as JSON text, as Osmedeus clients read it' }),
  checksum: Type.String({ description: 'SHA-256 of the file in hex' }),
  indexed_at: Type.String({ format: 'date-time', description: 'When this server read the file' }),
  created_at: Type.String({ format: 'date-time', description: 'Same as indexed_at' }),
  updated_at: Type.String({ format: 'date-time', description: 'Same as indexed_at' }),
  valid: Type.Boolean({ description: 'False: the workflow has errors and cannot be started' }),
  missing_tools: Type.Array(Type.String(), {
    description: 'Programs that it or one of its modules declares, and that no worker has that is not lost',
  }),
})

export const shownParams = (params: WorkflowEntry['params']): Param[] =>
  params.map(
    ({ name, type = 'string', default: value = null, required = false, description = '', ...param }) => ({
      name,
      type,
      default: value,
      required,
      description,
      ...picked(param, ['min', 'max', 'choices', 'multiple', 'generator']),
    }),
  )

export const hookCount = ({ workflow }: Pick<WorkflowEntry, 'workflow'>): number =>
  (workflow?.hooks?.pre_scan_steps ?? []).length + (workflow?.hooks?.post_scan_steps ?? []).length

/** The programs of the workers that are not lost. */
const toolsOfFarm = async ({ workers }: Store): Promise<ReadonlySet<string>> => {
  const { data } = await workers.list()
  return new Set(data.flatMap(({ status, capabilities }) => (status === 'lost' ? [] : capabilities)))
}

const missingTools = (catalog: Catalog, entry: WorkflowEntry, farm: ReadonlySet<string>): string[] => {
  const { workflow } = entry
  if (workflow === undefined) return []
  const modules = [...catalog.references(entry, workflow).modules.values()]
  const declared = [workflow, ...modules.map((module) => module.workflow)].flatMap(
    (each) => each?.dependencies?.commands ?? [],
  )
  return [...new Set(declared)].filter((name) => !farm.has(TOOL + name)).sort()
}

/** 48 bits of the hash of a name. */
const numberOf = (name: string): number => createHash('sha256').update(name).digest().readUIntBE(0, 6)

const summary = async (catalog: Catalog, entry: WorkflowEntry, farm: ReadonlySet<string>) => ({
  id: numberOf(entry.name),
  name: entry.name,
  kind: entry.kind,
  description: entry.description,
  tags: [...entry.tags],
  hidden: entry.hidden,
  file_path: entry.path,
  source: entry.source,
  params: shownParams(entry.params),
  params_json: JSON.stringify(shownParams(entry.params)),
  checksum: await catalog.checksum(entry),
  hook_count: hookCount(entry),
  indexed_at: catalog.readAt(entry),
  created_at: catalog.readAt(entry),
  updated_at: catalog.readAt(entry),
  required_params: entry.params.filter(({ required }) => required === true).map(({ name }) => name),
  step_count: entry.workflow?.steps?.length ?? 0,
  module_count: entry.workflow?.modules?.length ?? 0,
  valid: entry.workflow !== undefined,
  missing_tools: missingTools(catalog, entry, farm),
})

/** The default page size that Osmedeus clients expect. */
const DEFAULT_LIMIT = 50

export const listWorkflows = route(
  {
    endpoint: 'GET /workflows',
    summary: 'List the workflows that can be started by name',
    role: 'viewer',
    query: closed({
      source: Type.Optional(
        Type.Enum(['db', 'filesystem'], {
          description:
            'Both list the same workflows, because there is no separate index. With `filesystem` all of them are returned unless `limit` is set',
        }),
      ),
      kind: Type.Optional(WorkflowKind),
      search: Type.Optional(Type.String({ description: 'Substring of the name or the description' })),
      tags: Type.Optional(
        Type.String({ description: 'Workflows with one of these tags, separated by commas' }),
      ),
      hidden: Type.Optional(Type.Boolean({ description: 'Include hidden workflows' })),
      offset: pageQuery.offset,
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          description: `Maximum records to return, ${DEFAULT_LIMIT} by default; values above ${MAX_LIMIT} are lowered to ${MAX_LIMIT}`,
        }),
      ),
    }),
    responses: {
      200: Type.Object({
        data: Type.Array(WorkflowSummary),
        pagination: Pagination,
        count: Type.Integer({ description: 'Same as pagination.total' }),
      }),
    },
  },
  async ({ catalog, store }, { query }) => {
    const { source, kind, search = '', tags = '', hidden = false } = query
    const words = wordsOf(tags)
    const text = search.toLowerCase()
    const found = (await catalog.list()).filter(
      (entry) =>
        (hidden || !entry.hidden) &&
        (kind === undefined || entry.kind === kind) &&
        `${entry.name}\n${entry.description}`.toLowerCase().includes(text) &&
        (words.length === 0 || entry.tags.some((tag) => words.includes(tag.toLowerCase()))),
    )
    const page = pageRequest({ limit: source === 'filesystem' ? MAX_LIMIT : DEFAULT_LIMIT, ...query })
    const shown = found.slice(page.offset, page.offset + page.limit)
    const farm = await toolsOfFarm(store)
    return {
      data: await Promise.all(shown.map((entry) => summary(catalog, entry, farm))),
      pagination: { total: found.length, offset: page.offset, limit: page.limit },
      count: found.length,
    }
  },
)

const wordsOf = (list: string): string[] =>
  list
    .split(',')
    .map((word) => word.trim().toLowerCase())
    .filter((word) => word !== '')

export const listWorkflowTags = route(
  {
    endpoint: 'GET /workflows/tags',
    summary: 'List the tags of all listed workflows',
    role: 'viewer',
    responses: { 200: Type.Object({ tags: Type.Array(Type.String()), count: Type.Integer() }) },
  },
  async ({ catalog }) => {
    const listed = (await catalog.list()).filter(({ hidden }) => !hidden)
    const tags = [...new Set(listed.flatMap((entry) => entry.tags))].sort()
    return { tags, count: tags.length }
  },
)

/** Maximum files listed in the answer of a refresh. */
const MAX_BROKEN = 100

export const refreshWorkflows = route(
  {
    endpoint: 'POST /workflows/refresh',
    summary: 'Check now for new, changed and removed workflow files',
    description:
      'Changes are also found by the next request that needs a workflow. The counts are relative to the previous call on this server, or to its start.',
    role: 'operator',
    query: closed({
      force: Type.Optional(Type.Boolean({ description: 'Has no effect: every file is always checked' })),
    }),
    responses: {
      200: Type.Object({
        message: Type.String(),
        added: Type.Integer(),
        updated: Type.Integer(),
        removed: Type.Integer(),
        errors: Type.Array(Type.String(), {
          description: `Files that cannot be started, with their first problem; at most ${MAX_BROKEN}`,
        }),
      }),
    },
  },
  async ({ catalog }) => {
    const { broken, ...counts } = await catalog.refresh()
    const errors = broken.slice(0, MAX_BROKEN).map(firstProblem)
    return { message: 'Workflows refreshed', ...counts, errors }
  },
)

const firstProblem = ({ path, problems }: WorkflowEntry): string => {
  const first = problems.find(({ severity }) => severity === 'error')
  return first === undefined ? path : `${placeOf(first)}: ${first.message}`
}

const WorkflowDetail = Type.Object({
  ...WorkflowSummary.properties,
  steps: Type.Array(Type.Unknown()),
  modules: Type.Array(Type.Unknown()),
  triggers: Type.Array(Type.Unknown()),
  dependencies: Type.Unknown(),
  problems: Type.Array(Type.Omit(WorkflowProblem, ['file'])),
})

export const getWorkflow = route(
  {
    endpoint: 'GET /workflows/{name}',
    summary: 'Read one workflow as YAML text, or as JSON with json=true',
    role: 'viewer',
    query: closed({ json: Type.Optional(Type.Boolean()) }),
    responses: {
      200: {
        media: ['application/yaml', 'application/json'],
        description: 'The workflow',
        schema: WorkflowDetail,
      },
    },
    errors: ['workflow_not_found'],
  },
  async ({ catalog, store }, { params, query }) => {
    const entry = await catalog.find(params.name)
    if (query.json !== true) return text(200, 'application/yaml; charset=utf-8', await catalog.yaml(entry))
    return json(200, {
      ...(await summary(catalog, entry, await toolsOfFarm(store))),
      steps: (entry.workflow?.steps ?? []).map((step, index) => ({ index, ...step })),
      modules: entry.workflow?.modules ?? [],
      triggers: entry.triggers,
      dependencies: entry.workflow?.dependencies ?? {},
      problems: entry.problems.map(({ file: _, ...problem }) => problem),
    })
  },
)
