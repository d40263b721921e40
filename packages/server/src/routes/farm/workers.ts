import { AppError, closed, TOOL, Worker, WorkerDetail, type Wanted } from '@scanfarm/contracts'
import { parseDuration } from '@scanfarm/language'
import { Type } from 'typebox'
import type { Catalog } from '../../catalog/catalog.ts'
import type { ServerContext } from '../../context.ts'
import { found, missing, refuse } from '../../http/refusal.ts'
import { route } from '../../http/route.ts'
import { idOf, NamedPath } from '../named.ts'
import { part, partBody, partQuery } from '../../http/paging.ts'

const wantedTools = async (catalog: Catalog): Promise<Set<string>> => {
  const entries = await catalog.list()
  const names = entries.flatMap(({ workflow }) => workflow?.dependencies?.commands ?? [])
  return new Set(names.map((name) => TOOL + name))
}

export const listWorkers = route(
  {
    endpoint: 'GET /workers',
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
    endpoint: 'GET /workers/{id}',
    summary: 'Read one worker',
    role: 'viewer',
    params: NamedPath,
    description:
      'With the runs that its slots execute now. The fields of the worker are returned beside `data` too, as Osmedeus clients expect.',
    responses: { 200: Type.Object({ ...WorkerDetail.properties, data: WorkerDetail }) },
    errors: ['conflict'],
  },
  async (context, { params }) => {
    const id = await idOf(context, 'worker', params.id)
    const data = found('worker', id, await context.store.workers.find(id))
    return { ...data, data }
  },
)

/** Records what an operator wants of a worker, and signals it. */
const direct = async (
  { store, queue, log }: ServerContext,
  ref: string,
  wanted: Wanted,
  forMs?: number,
): Promise<WorkerDetail> => {
  const id = await idOf({ store }, 'worker', ref)
  const directed = await store.workers.direct(id, wanted, forMs)
  if (directed === 'lost')
    throw new AppError('wrong_state', 'this worker is lost: it owns no runs and cannot be reached')
  if (directed === 'slots')
    throw new AppError(
      'conflict',
      'the slots of a server end with the server: stop the server, or pause its slots with {"stop": false}',
    )
  if (directed === 'stopping')
    throw new AppError('wrong_state', 'this worker already stops: start it again when it has ended')
  const worker = directed === 'ok' ? await store.workers.find(id) : undefined
  if (worker === undefined) throw missing('worker', id)
  await queue?.publishWorkers([id]).catch((error: unknown) => {
    log.warn('a worker could not be signalled; it will read the request with its next heartbeat', { error })
  })
  return worker
}

const MOST_DRAIN_MS = 7 * 86_400_000

const drainTime = (body: { readonly for?: string; readonly stop?: boolean }): number | undefined => {
  if (body.for === undefined) return undefined
  if (body.stop === false)
    refuse([
      { path: '/for', message: 'a paused worker waits for its runs without a limit: leave out for or stop' },
    ])
  const ms = parseDuration(body.for)
  if (ms === undefined || ms < 1 || ms > MOST_DRAIN_MS)
    refuse([
      { path: '/for', message: `"${body.for}" is not a duration up to 7d; for example: 30m, 2h, 1h30m` },
    ])
  return Math.ceil(ms ?? 0)
}

export const drainWorker = route(
  {
    endpoint: 'POST /workers/{id}/drain',
    summary: 'Drain a worker: it claims no more runs and finishes those it has',
    description:
      'By default its program then ends as after SIGTERM: runs that are still under way after `worker.drain_ms` are handed back, and another worker executes them again. With `for` it waits that long for its runs first, and ends as soon as the last one has; a later drain replaces the time. With `stop: false` the worker stays, finishes its runs without a time limit and is paused until `POST /workers/{id}/resume`. The slots of a server can only be paused. The request is stored: it survives a restart of servers, and a worker that misses the signal reads it with its next heartbeat, at the latest after a third of `worker.lease_ms`. Repeating it changes nothing; a pause can become a stop.',
    role: 'operator',
    params: NamedPath,
    body: closed({
      stop: Type.Optional(
        Type.Boolean({ description: 'Whether its program ends when it is drained; default true' }),
      ),
      for: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 32,
          description: 'How long it waits for its runs before its program ends, at most 7d; for example 2h',
        }),
      ),
    }),
    responses: { 200: Type.Object({ message: Type.String(), data: WorkerDetail }) },
    errors: ['wrong_state', 'conflict'],
  },
  async (context, { params, body }) => {
    const stop = body.stop ?? true
    const data = await direct(context, params.id, stop ? 'stopped' : 'paused', drainTime(body))
    const message = stop ? 'The worker drains and ends' : 'The worker drains and stays paused'
    return { message, data }
  },
)

export const resumeWorker = route(
  {
    endpoint: 'POST /workers/{id}/resume',
    summary: 'Let a paused worker claim runs again',
    description: 'A worker that already stops cannot be resumed. A worker that is not paused is not changed.',
    role: 'operator',
    params: NamedPath,
    responses: { 200: Type.Object({ message: Type.String(), data: WorkerDetail }) },
    errors: ['wrong_state', 'conflict'],
  },
  async (context, { params }) => ({
    message: 'The worker claims runs again',
    data: await direct(context, params.id, 'running'),
  }),
)

/** Maximum workflow names in the description of a program. */
const MOST_NAMES = 5

export const registryInfo = route(
  {
    endpoint: 'GET /registry-info',
    summary: 'List the programs that workflows require, and whether a worker has them',
    description:
      'There is no registry: programs are part of the machine or image of a worker. Clients need `registry_mode` to read `binaries`.',
    role: 'viewer',
    query: closed({ registry_mode: Type.Optional(Type.String({ description: 'Has no effect' })) }),
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
