import { Agent } from 'node:http'
import type { TestCluster } from '@scanfarm/cli/testing'
import type { Harness } from './harness.ts'
import { Database, startCluster } from './cluster.ts'
import { atLeast, atMost, type Figure, type Target } from './figure.ts'
import { bareHttpLoad, barePgLoad } from './limits/http.ts'
import { CONNECTIONS, oneCall, saturate, type Call } from './load.ts'
import { seedRuns, type Seeded } from './seed.ts'
import { percentile } from './timing.ts'

interface Path {
  readonly name: string
  readonly path: string
  /** p50 of single calls, in ms. */
  readonly target: Target
  /** Compares the rate under load with a bare server that returns the rows of `statement`. Missing: no load. */
  readonly load?: { readonly statement: string; readonly share: number }
}

/** (d) Reading runs while a million of them are stored. */
export async function* api(harness: Harness): AsyncGenerator<Figure> {
  await using cluster = await startCluster(harness, { workers: 0 })
  await using db = await Database.open(cluster.postgres.url)
  const seeded = await seedRuns(harness, db, { runs: harness.quick ? 100_000 : 1_000_000 })
  for (const path of paths(seeded)) yield* measure(harness, cluster, path, seeded)
}

const paths = ({ runs, middleId, middleUuid, middleTarget, jobId }: Seeded): Path[] => [
  {
    name: 'list, first page',
    path: '/runs',
    target: atMost(5),
    load: { statement: 'select * from runs order by id desc limit 20', share: 0.38 },
  },
  { name: 'list by status', path: '/runs?status=completed', target: atMost(5) },
  {
    name: 'list by workflow and status',
    path: '/runs?workflow_name=flow-7&status=failed',
    target: atMost(5),
  },
  { name: 'list by target', path: `/runs?target=${middleTarget}`, target: atMost(5) },
  { name: 'list from the middle by offset', path: `/runs?offset=${runs / 2}`, target: atMost(50) },
  {
    name: 'run by number',
    path: `/runs/${middleId}`,
    target: atMost(5),
    load: { statement: `select * from runs where id = ${middleId}`, share: 0.5 },
  },
  { name: 'run by uuid', path: `/runs/${middleUuid}`, target: atMost(5) },
  { name: 'job of 10,000 runs', path: `/jobs/${jobId}`, target: atMost(25) },
]

async function* measure(
  harness: Harness,
  cluster: TestCluster,
  path: Path,
  { runs }: Seeded,
): AsyncGenerator<Figure> {
  harness.note(`GET ${path.path} with ${runs.toLocaleString('en')} runs stored`)
  const call = cluster.client.callTo(path.path)
  const times = await singleCalls(call, harness.quick ? 50 : 300)
  yield {
    part: 'd',
    name: `${path.name}, p50`,
    value: percentile(times, 50),
    unit: 'ms',
    target: path.target,
  }
  yield { part: 'd', name: `${path.name}, p99`, value: percentile(times, 99), unit: 'ms' }
  if (path.load) yield* underLoad(harness, cluster, path.path, { ...path.load, name: path.name })
}

async function singleCalls(call: Call, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  for (let index = 0; index < count; index++) times.push(await oneCall(call, agent))
  agent.destroy()
  return times
}

async function* underLoad(
  harness: Harness,
  cluster: TestCluster,
  path: string,
  { name, statement, share }: { name: string; statement: string; share: number },
): AsyncGenerator<Figure> {
  const bytes = Buffer.byteLength(await cluster.client.text(path))
  const empty = await bareHttpLoad(harness, bytes)
  const bare = await barePgLoad(harness, cluster.postgres.url, statement)
  const ours = await saturate(harness, cluster.client.callTo(path))
  const load = `${name}, ${CONNECTIONS} connections`
  const figure = { part: 'd', value: ours.rate, unit: '/s' } as const
  yield { ...figure, name: load, limit: { what: 'bare node:http, fixed bytes', value: empty.rate } }
  yield {
    ...figure,
    name: load,
    limit: { what: 'bare node:http + pg', value: bare.rate },
    target: atLeast(share, 'ratio'),
  }
  yield {
    part: 'd',
    name: `${load}, p99`,
    value: ours.p99Ms,
    unit: 'ms',
    limit: { what: 'bare node:http + pg', value: bare.p99Ms },
    target: atMost(5, 'ratio'),
  }
}
