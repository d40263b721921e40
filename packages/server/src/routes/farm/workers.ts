import { AppError, Worker } from '@scanfarm/contracts'
import { Type } from 'typebox'
import type { Catalog } from '../../catalog/catalog.ts'
import { route } from '../../http/route.ts'
import { part, partBody, partQuery } from '../paging.ts'

/** Prefix of program names in the capabilities of a worker. */
export const TOOL = 'tool:'

const wantedTools = async (catalog: Catalog): Promise<Set<string>> => {
  const entries = await catalog.list()
  const names = entries.flatMap(({ workflow }) => workflow?.dependencies?.commands ?? [])
  return new Set(names.map((name) => TOOL + name))
}

export const listWorkers = route(
  {
    method: 'get',
    path: '/workers',
    tag: 'Farm',
    summary: 'List the workers and the local slots of servers',
    description:
      'Of the programs that a worker has, only those that a workflow requires are listed; GET /workers/{id} lists all.',
    role: 'viewer',
    query: partQuery,
    responses: { 200: Type.Object({ ...part(Worker).properties, count: Type.Integer() }) },
  },
  async ({ store, catalog }, { query: { cursor } }) => {
    const wanted = await wantedTools(catalog)
    const workers = await store.workers.list(cursor)
    const data = workers.data.map((worker) => ({
      ...worker,
      capabilities: worker.capabilities.filter((word) => !word.startsWith(TOOL) || wanted.has(word)),
    }))
    return { ...partBody({ ...workers, data }, cursor), count: data.length }
  },
)

export const getWorker = route(
  {
    method: 'get',
    path: '/workers/{id}',
    tag: 'Farm',
    summary: 'Read one worker',
    role: 'viewer',
    params: Type.Object({ id: Type.String() }),
    description: 'The fields of the worker are returned beside `data` too, as Osmedeus clients expect.',
    responses: { 200: Type.Object({ ...Worker.properties, data: Worker }) },
    errors: ['not_found'],
  },
  async ({ store }, { params }) => {
    const data = await store.workers.find(params.id)
    if (data === undefined) throw new AppError('not_found', `there is no worker ${JSON.stringify(params.id)}`)
    return { ...data, data }
  },
)

/** Maximum workflow names in the description of a program. */
const MOST_NAMES = 5

export const registryInfo = route(
  {
    method: 'get',
    path: '/registry-info',
    tag: 'Farm',
    summary: 'List the programs that workflows require, and whether a worker has them',
    description:
      'There is no registry: programs are part of the machine or image of a worker. Clients need `registry_mode` to read `binaries`.',
    role: 'viewer',
    query: Type.Object(
      { registry_mode: Type.Optional(Type.String({ description: 'Has no effect' })) },
      { additionalProperties: false },
    ),
    responses: {
      200: Type.Object({
        registry_mode: Type.Literal('direct-fetch'),
        registry_url: Type.Literal(''),
        nix_installed: Type.Literal(false),
        binaries: Type.Record(
          Type.String(),
          Type.Object({
            desc: Type.String({ description: 'The workflows that require it' }),
            installed: Type.Boolean({ description: 'A worker or server that is not lost has it' }),
            optional: Type.Literal(false),
            workers: Type.Integer({ description: 'How many have it, including local slots of servers' }),
          }),
        ),
      }),
    },
  },
  async ({ catalog, store }) => {
    const entries = await catalog.list()
    const pairs = entries.flatMap(({ name, workflow }) =>
      (workflow?.dependencies?.commands ?? []).map((program) => ({ program, name })),
    )
    const wanted = [...Map.groupBy(pairs, ({ program }) => program)].sort(([a], [b]) => a.localeCompare(b))
    const alive = (await store.workers.list()).data.filter((worker) => worker.status !== 'lost')
    const binaries = wanted.map(([program, askers]) => {
      const names = [...new Set(askers.map(({ name }) => name))]
      const rest = names.length - MOST_NAMES
      const workers = alive.filter(({ capabilities }) => capabilities.includes(TOOL + program)).length
      return [
        program,
        {
          desc: `Used by ${names.slice(0, MOST_NAMES).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`,
          installed: workers > 0,
          optional: false as const,
          workers,
        },
      ] as const
    })
    return {
      registry_mode: 'direct-fetch' as const,
      registry_url: '' as const,
      nix_installed: false as const,
      binaries: Object.fromEntries(binaries),
    }
  },
)
