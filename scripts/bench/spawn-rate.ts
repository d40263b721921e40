import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Bench } from './bench.ts'
import { Database, startFarm } from './farms.ts'
import { atLeast, type Figure } from './figure.ts'
import { bareNodeRate, spawnRate, WIDTH } from './limits/spawn.ts'
import { rateOf } from './throughput.ts'

const run = promisify(execFile)
const HEAVY_MIB = 500
const SLOTS = 8

/** (f) Whether a worker with much memory starts processes as fast as a small one. */
export async function* spawnRates(bench: Bench): AsyncGenerator<Figure> {
  const commands = bench.quick ? 500 : 2_000
  const bare = await bareNodeRate(bench)
  bench.note(`bare Node of ${HEAVY_MIB} MiB, and the host runner in a small and in a heavy process`)
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
  const farms = await farmRates(bench)
  yield {
    part: 'f',
    name: `targets on a worker of ${HEAVY_MIB} MiB`,
    value: farms.heavy,
    unit: '/s',
    limit: { what: 'on a small worker', value: farms.small },
    target: atLeast(0.8, 'ratio'),
  }
}

async function runnerRate(commands: number, ballastMib: number): Promise<number> {
  const program = join(import.meta.dirname, 'runner-loop.ts')
  const args = ['--disable-warning=ExperimentalWarning', program, commands, WIDTH, ballastMib].map(String)
  return Number((await run(process.execPath, args)).stdout)
}

/** The same job on a small worker and on one that carries ballast. */
async function farmRates(bench: Bench): Promise<{ small: number; heavy: number }> {
  const count = bench.quick ? 500 : 2_000
  await using farm = await startFarm(bench, { workers: 1, slots: SLOTS })
  await using db = await Database.open(farm.postgres.url)
  await rateOf(bench, { farm, db, module: 'noop', count: 200 })
  const small = await rateOf(bench, { farm, db, module: 'noop', count })
  await farm.workers[0]?.stop()
  await farm.startWorker('heavy', {
    NODE_OPTIONS: `--import=${join(import.meta.dirname, 'ballast.ts')}`,
    BENCH_BALLAST_MIB: String(HEAVY_MIB),
  })
  await rateOf(bench, { farm, db, module: 'noop', count: 200 })
  return { small, heavy: await rateOf(bench, { farm, db, module: 'noop', count }) }
}
