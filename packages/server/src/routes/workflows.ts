import { Pagination, WorkflowKind } from '@scanfarm/contracts'
import type { WorkflowEntry } from '@scanfarm/workflow'
import { Type } from 'typebox'
import { json, text } from '../http/answer.ts'
import { route } from '../http/route.ts'
import { pageQuery, pageRequest } from './paging.ts'

const Param = Type.Object({
  name: Type.String(),
  type: Type.String({ description: '`string`, `int`, `bool`, `choice`, `path` or `args`' }),
  default: Type.Unknown(),
  required: Type.Boolean(),
  min: Type.Optional(Type.Number({ description: 'Of an `int`' })),
  max: Type.Optional(Type.Number({ description: 'Of an `int`' })),
  choices: Type.Optional(Type.Array(Type.String(), { description: 'Of a `choice`' })),
  multiple: Type.Optional(
    Type.Boolean({ description: 'A `choice` may be several of the choices, separated by commas' }),
  ),
  description: Type.String(),
})

const WorkflowSummary = Type.Object(
  {
    name: Type.String(),
    kind: WorkflowKind,
    description: Type.String(),
    tags: Type.Array(Type.String()),
    hidden: Type.Boolean(),
    file_path: Type.String({ description: 'Within its source' }),
    source: Type.String({ description: '`uploaded`, or the folder on the server' }),
    params: Type.Array(Param),
    required_params: Type.Array(Type.String()),
    step_count: Type.Integer(),
    module_count: Type.Integer(),
    valid: Type.Boolean({ description: 'False: it has errors and cannot be started' }),
  },
  { $id: 'WorkflowSummary' },
)

const summary = (entry: WorkflowEntry) => ({
  name: entry.name,
  kind: entry.kind,
  description: entry.description,
  tags: [...entry.tags],
  hidden: entry.hidden,
  file_path: entry.path,
  source: entry.source,
  params: entry.params.map(
    ({ name, type = 'string', default: value = null, required = false, description = '', ...param }) => ({
      name,
      type,
      default: value,
      required,
      description,
      ...(param.min === undefined ? {} : { min: param.min }),
      ...(param.max === undefined ? {} : { max: param.max }),
      ...(param.choices === undefined ? {} : { choices: param.choices }),
      ...(param.multiple === undefined ? {} : { multiple: param.multiple }),
    }),
  ),
  required_params: entry.params.filter(({ required }) => required === true).map(({ name }) => name),
  step_count: entry.workflow?.steps?.length ?? 0,
  module_count: entry.workflow?.modules?.length ?? 0,
  valid: entry.workflow !== undefined,
})

const { offset, limit } = pageQuery

export const listWorkflows = route(
  {
    method: 'get',
    path: '/workflows',
    tag: 'Workflows',
    summary: 'List the workflows that can be started by name',
    role: 'viewer',
    query: Type.Object(
      {
        kind: Type.Optional(WorkflowKind),
        search: Type.Optional(Type.String({ description: 'Part of the name or the description' })),
        tags: Type.Optional(Type.String({ description: 'Separated by commas; one of them is enough' })),
        hidden: Type.Optional(Type.Boolean({ description: 'Also the ones that ask not to be listed' })),
        offset,
        limit,
      },
      { additionalProperties: false },
    ),
    responses: {
      200: Type.Object({
        data: Type.Array(WorkflowSummary),
        pagination: Pagination,
        count: Type.Integer({ description: 'Same as pagination.total' }),
      }),
    },
  },
  async ({ catalog }, { query }) => {
    const { kind, search = '', tags, hidden = false } = query
    const words = tags?.split(',').map((tag) => tag.trim().toLowerCase())
    const text = search.toLowerCase()
    const found = (await catalog.list()).filter(
      (entry) =>
        (hidden || !entry.hidden) &&
        (kind === undefined || entry.kind === kind) &&
        `${entry.name}\n${entry.description}`.toLowerCase().includes(text) &&
        (words === undefined || entry.tags.some((tag) => words.includes(tag.toLowerCase()))),
    )
    const page = pageRequest(query)
    return {
      data: found.slice(page.offset, page.offset + page.limit).map(summary),
      pagination: { total: found.length, offset: page.offset, limit: page.limit },
      count: found.length,
    }
  },
)

const WorkflowDetail = Type.Object({
  ...WorkflowSummary.properties,
  steps: Type.Array(Type.Unknown()),
  modules: Type.Array(Type.Unknown()),
  triggers: Type.Array(Type.Unknown()),
  dependencies: Type.Unknown(),
  problems: Type.Array(
    Type.Object({
      line: Type.Integer(),
      column: Type.Integer(),
      rule: Type.String(),
      severity: Type.Enum(['error', 'warning', 'info']),
      message: Type.String(),
      hint: Type.String(),
    }),
  ),
})

export const getWorkflow = route(
  {
    method: 'get',
    path: '/workflows/{name}',
    tag: 'Workflows',
    summary: 'Read one workflow: its YAML text, or its parts with json=true',
    role: 'viewer',
    params: Type.Object({ name: Type.String() }),
    query: Type.Object({ json: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
    responses: {
      200: {
        media: ['application/yaml', 'application/json'],
        description: 'The workflow',
        schema: WorkflowDetail,
      },
    },
    errors: ['workflow_not_found'],
  },
  async ({ catalog }, { params, query }) => {
    const entry = await catalog.find(params.name)
    if (query.json !== true) return text(200, 'application/yaml; charset=utf-8', await catalog.yaml(entry))
    return json(200, {
      ...summary(entry),
      steps: entry.workflow?.steps ?? [],
      modules: entry.workflow?.modules ?? [],
      triggers: entry.triggers,
      dependencies: entry.workflow?.dependencies ?? {},
      problems: entry.problems.map(({ file: _, ...problem }) => problem),
    })
  },
)
