import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Harness } from './harness.ts'
import { Database, startCluster } from './cluster.ts'
import { atLeast, type Figure } from './figure.ts'
import { bareNodeRate, spawnRate, WIDTH } from './limits/spawn.ts'
import { rateOf } from './throughput.ts'

const run = promisify(execFile)
const HEAVY_MIB = 500
const SLOTS = 8

/** (f) The rate at which a worker with much memory starts processes, compared with a small one. */
export async function* spawnRates(harness: Harness): AsyncGenerator<Figure> {
  const commands = harness.quick ? 500 : 2_000
  const bare = await bareNodeRate(harness)
  harness.note(`bare Node of ${HEAVY_MIB} MiB, and the host runner in a small and in a heavy process`)
  const bareHeavy = await spawnRate(commands, HEAVY_MIB)
  const small = await runnerRate(commands, 0)
  const heavy = await runnerRate(commands, HEAVY_MIB)
  yield {
    part: 'f',
    name: `bare Node of ${HEAVY_MIB} MiB`,
    value: bareHeavy,
    unit: '/s',
    limit: { what: 'small bare Node', value: bare },
  }
  yield {
    part: 'f',
    name: 'host runner',
    value: small,
    unit: '/s',
    limit: { what: 'small bare Node', value: bare },
  }
  yield {
    part: 'f',
    name: `host runner in a process of ${HEAVY_MIB} MiB`,
    value: heavy,
    unit: '/s',
    limit: { what: 'in a small process', value: small },
    target: atLeast(0.8, 'ratio'),
  }
  const clusters = await clusterRates(harness)
  yield {
    part: 'f',
    name: `targets on a worker of ${HEAVY_MIB} MiB`,
    value: clusters.heavy,
    unit: '/s',
    limit: { what: 'on a small worker', value: clusters.small },
    target: atLeast(0.8, 'ratio'),
  }
}

async function runnerRate(commands: number, ballastMib: number): Promise<number> {
  const program = join(import.meta.dirname, 'runner-loop.ts')
  const args = ['--disable-warning=ExperimentalWarning', program, commands, WIDTH, ballastMib].map(String)
  return Number((await run(process.execPath, args)).stdout)
}

/** The same job on a small worker and on a worker with ballast. */
async function clusterRates(harness: Harness): Promise<{ small: number; heavy: number }> {
  const count = harness.quick ? 500 : 2_000
  await using cluster = await startCluster(harness, { workers: 1, slots: SLOTS })
  await using db = await Database.open(cluster.postgres.url)
  await rateOf(harness, { cluster, db, module: 'noop', count: 200 })
  const small = await rateOf(harness, { cluster, db, module: 'noop', count })
  await cluster.workers[0]?.stop()
  await cluster.startWorker('heavy', {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'ballast.ts')}`,
    BENCH_BALLAST_MIB: String(HEAVY_MIB),
  })
  await rateOf(harness, { cluster, db, module: 'noop', count: 200 })
  return { small, heavy: await rateOf(harness, { cluster, db, module: 'noop', count }) }
}
