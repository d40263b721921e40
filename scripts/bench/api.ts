import { Agent } from 'node:http'
import type { TestCluster } from '@scanfarm/cli/testing'
import type { Bench } from './bench.ts'
import { Database, startFarm } from './farms.ts'
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
  /** The same under load, beside a bare server that answers with the rows of `statement`; missing: not loaded. */
  readonly load?: { readonly statement: string; readonly share: number }
}

/** (d) Reading runs while a million of them are stored. */
export async function* api(bench: Bench): AsyncGenerator<Figure> {
  await using farm = await startFarm(bench, { workers: 0 })
  await using db = await Database.open(farm.postgres.url)
  const seeded = await seedRuns(bench, db, bench.quick ? 100_000 : 1_000_000)
  for (const path of paths(seeded)) yield* measure(bench, farm, path, seeded)
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
    load: { statement: `select * from runs where id = ${middleId}`, share: 0.4 },
  },
  { name: 'run by uuid', path: `/runs/${middleUuid}`, target: atMost(5) },
  { name: 'job of 10,000 runs', path: `/jobs/${jobId}`, target: atMost(25) },
]

async function* measure(
  bench: Bench,
  farm: TestCluster,
  path: Path,
  { runs }: Seeded,
): AsyncGenerator<Figure> {
  bench.note(`GET ${path.path} with ${runs.toLocaleString('en')} runs stored`)
  const call = farm.client.callTo(path.path)
  const times = await singleCalls(call, bench.quick ? 50 : 300)
  yield {
    part: 'd',
    name: `${path.name}, p50`,
    value: percentile(times, 50),
    unit: 'ms',
    target: path.target,
  }
  yield { part: 'd', name: `${path.name}, p99`, value: percentile(times, 99), unit: 'ms' }
  if (path.load) yield* underLoad(bench, farm, path.path, { ...path.load, name: path.name })
}

async function singleCalls(call: Call, count: number): Promise<number[]> {
  const agent = new Agent({ keepAlive: true })
  const times: number[] = []
  for (let index = 0; index < count; index++) times.push(await oneCall(call, agent))
  agent.destroy()
  return times
}

async function* underLoad(
  bench: Bench,
  farm: TestCluster,
  path: string,
  { name, statement, share }: { name: string; statement: string; share: number },
): AsyncGenerator<Figure> {
  const bytes = Buffer.byteLength(await farm.client.text(path))
  const empty = await bareHttpLoad(bench, bytes)
  const bare = await barePgLoad(bench, farm.postgres.url, statement)
  const ours = await saturate(bench, farm.client.callTo(path))
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
