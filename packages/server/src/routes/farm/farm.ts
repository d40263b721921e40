import { RunMode } from '@scanfarm/contracts'
import { Type } from 'typebox'
import { json, text } from '../../http/answer.ts'
import { route } from '../../http/route.ts'
import type { ServerContext } from '../../context.ts'
import { VERSION } from '../../version.ts'

export const health = route(
  {
    endpoint: 'GET /health',
    summary: 'Check whether the server is alive',
    role: 'public',
    bare: true,
    responses: { 200: Type.Object({ status: Type.Literal('ok') }) },
  },
  async () => ({ status: 'ok' as const }),
)

/** A probe that takes longer fails. */
const PROBE_MS = 5_000

const Ready = Type.Object({
  status: Type.Enum(['ready', 'unavailable']),
  checks: Type.Record(Type.String(), Type.String(), { description: 'By component: ok or unavailable' }),
})

export const ready = route(
  {
    endpoint: 'GET /health/ready',
    summary: 'Check whether the server can work: database, queue and artifact store',
    role: 'public',
    bare: true,
    responses: { 200: Ready, 503: Ready },
  },
  async (context) => {
    const checks = Object.fromEntries(await probes(context))
    const good = Object.values(checks).every((word) => word === 'ok')
    return good
      ? { status: 'ready' as const, checks }
      : json(503, { status: 'unavailable', checks }, { 'Retry-After': 2 })
  },
)

type Parts = Pick<ServerContext, 'store' | 'queue' | 'artifacts'>

/** The route is public, so concurrent requests share one set of probes. */
const underWay = new WeakMap<Parts['store'], Promise<[string, string][]>>()

const probes = ({ store, queue, artifacts }: Parts): Promise<[string, string][]> => {
  const known = underWay.get(store)
  if (known !== undefined) return known
  const round = Promise.all([
    probe('database', () => store.check()),
    probe('artifacts', () => artifacts.check()),
    ...(queue === undefined ? [] : [probe('queue', () => queue.check())]),
  ]).finally(() => underWay.delete(store))
  underWay.set(store, round)
  return round
}

const probe = async (name: string, check: () => Promise<void>): Promise<[string, string]> => {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no answer within ${PROBE_MS} ms`)), PROBE_MS)
  try {
    await Promise.race([check(), late])
    return [name, 'ok']
  } catch {
    // The route is public, so details are only logged.
    return [name, 'unavailable']
  } finally {
    clearTimeout(timer)
  }
}

const ServerInfo = Type.Object({
  message: Type.String(),
  name: Type.String(),
  version: Type.String(),
  license: Type.String(),
  docs: Type.String({ description: 'Path of the documentation of this API' }),
  repo: Type.String(),
  author: Type.String(),
  build: Type.String(),
  commit: Type.String(),
  master: Type.Boolean(),
  run_modes: Type.Array(RunMode, { description: 'local: this server has local slots' }),
  queue: Type.String({ description: 'redis or postgres; "" without --master' }),
})

export const serverInfo = route(
  {
    endpoint: 'GET /server-info',
    // Some Osmedeus clients request this above the API root to detect a server.
    aliases: ['/status', '/info', '/osm/server-info'],
    description: 'Also at `/status` and `/info`. Clients call it before they have a token.',
    summary: 'Read the version and capabilities of the server',
    role: 'public',
    bare: true,
    responses: { 200: ServerInfo },
  },
  async ({ master, queueKind, config }) => ({
    message: `Scanfarm ${VERSION}`,
    name: 'Scanfarm',
    version: VERSION,
    license: 'Apache-2.0',
    docs: '/docs',
    repo: '',
    author: '',
    build: '',
    commit: '',
    master,
    run_modes: modesOf(master, config),
    queue: queueKind ?? '',
  }),
)

const modesOf = (master: boolean, { cloud, local }: ServerContext['config']): RunMode[] => [
  ...(local.slots > 0 ? ['local' as const] : []),
  ...(master ? ['distributed' as const] : []),
  ...(cloud.enabled ? ['cloud' as const] : []),
]

export const metrics = route(
  {
    endpoint: 'GET /metrics',
    summary: 'Read metrics in the Prometheus text format',
    role: 'viewer',
    bare: true,
    responses: { 200: { media: ['text/plain'], description: 'Metrics' } },
  },
  async ({ metrics: registry }) => text(200, registry.contentType, await registry.metrics()),
)
