import { AppError, Worker } from '@scanfarm/contracts'
import { Type } from 'typebox'
import type { Catalog } from '../catalog/catalog.ts'
import { route } from '../http/route.ts'
import { part, partBody, partQuery } from './paging.ts'

/** Before the name of a program in the capabilities of a worker. */
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
      'Of the programs that a worker found, only those are listed which some workflow asks for; GET /workers/{id} lists all.',
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
    description: 'The fields of the worker stand beside `data` too, as clients of Osmedeus read them.',
    responses: { 200: Type.Object({ ...Worker.properties, data: Worker }) },
    errors: ['not_found'],
  },
  async ({ store }, { params }) => {
    const data = await store.workers.find(params.id)
    if (data === undefined) throw new AppError('not_found', `there is no worker ${JSON.stringify(params.id)}`)
    return { ...data, data }
  },
)
