import type { TestCluster } from '@scanfarm/cli/testing'
import { Database, startCluster } from './cluster.ts'
import { costOfRun, farmOf, meanOf, printCosts, type Cost } from './cpu-meter.ts'
import { atMost, type Figure } from './figure.ts'
import type { Harness } from './harness.ts'
import { seedRuns } from './seed.ts'
import { rateOf } from './throughput.ts'

const FARM = { workers: 1, slots: 16 }
const WARM_UP = 400
const ROUNDS = 3
/** Of the stored runs, so many of the newest have steps and events. */
const RECORDED = 1_000_000

/** (g) The cost of a run with many runs in the database, and in small jobs. Part f shows it with more workers. `BENCH_STORED=10000` selects sizes. */
export async function* growth(harness: Harness): AsyncGenerator<Figure> {
  yield* storedRuns(harness)
  yield* jobSizes(harness)
}

interface Farm extends AsyncDisposable {
  readonly cluster: TestCluster
  readonly db: Database
}

async function openFarm(harness: Harness): Promise<Farm> {
  const cluster = await startCluster(harness, FARM)
  const db = await Database.open(cluster.postgres.url)
  return {
    cluster,
    db,
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose]().then(() => cluster[Symbol.asyncDispose]()),
  }
}

const sizesOf = (harness: Harness): number[] =>
  process.env.BENCH_STORED?.split(',').map(Number) ??
  (harness.quick ? [10_000, 1_000_000] : [10_000, 1_000_000, 10_000_000])

/** Two farms on this machine execute the same jobs in turn; only one of them has ended runs. */
async function* storedRuns(harness: Harness): AsyncGenerator<Figure> {
  await using empty = await openFarm(harness)
  await using full = await openFarm(harness)
  let stored = 0
  const costs: (Cost & { title: string })[] = []
  for (const runs of sizesOf(harness)) {
    await fill(harness, full, { runs: runs - stored })
    stored = runs
    const [without, withRuns] = await compare(harness, empty, full)
    const text = runs.toLocaleString('en')
    costs.push({ ...without, title: 'empty' }, { ...withRuns, title: text })
    const limit = { what: 'without them' }
    yield {
      part: 'g',
      name: `CPU of a run, ${text} runs stored`,
      value: farmOf(withRuns.cpu),
      unit: 'µs',
      limit: { ...limit, value: farmOf(without.cpu) },
      target: atMost(1.2, 'ratio'),
    }
    yield {
      part: 'g',
      name: `targets a second, ${text} runs stored`,
      value: withRuns.rate,
      unit: '/s',
      limit: { ...limit, value: without.rate },
    }
  }
  printCosts(costs)
}

/** The programs are stopped meanwhile: without indexes their statements would take too long. */
async function fill(harness: Harness, { cluster, db }: Farm, { runs }: { runs: number }): Promise<void> {
  harness.note(
    `${runs.toLocaleString('en')} more runs stored, the newest ${Math.min(runs, RECORDED).toLocaleString('en')} with a step and 3 events`,
  )
  const [master] = cluster.masters
  for (const program of [...cluster.workers, ...cluster.masters.map((one) => one.program)])
    if (program.running) await program.stop()
  await seedRuns(harness, db, { runs, recorded: Math.min(runs, RECORDED) })
  await cluster.startMaster(master?.port)
  await cluster.startWorker(`worker-${cluster.workers.length + 1}`)
}

async function compare(harness: Harness, ...farms: readonly Farm[]): Promise<[Cost, Cost]> {
  const count = harness.quick ? 600 : 3_000
  const costs = farms.map((): Cost[] => [])
  for (const farm of farms) await rateOf(harness, { ...farm, module: 'noop', count: WARM_UP })
  for (let round = 0; round < ROUNDS; round++)
    for (const [index, farm] of farms.entries())
      costs[index]?.push(
        await costOfRun({ ...farm, runs: count }, () => rateOf(harness, { ...farm, module: 'noop', count })),
      )
  const [first = [], second = []] = costs
  return [meanOf(first), meanOf(second)]
}

async function* jobSizes(harness: Harness): AsyncGenerator<Figure> {
  const count = harness.quick ? 1_000 : 10_000
  await using farm = await openFarm(harness)
  await rateOf(harness, { ...farm, module: 'noop', count: WARM_UP })
  const costs: (Cost & { title: string })[] = []
  for (let size = count; size >= 10; size /= 10) {
    const work = { ...farm, module: 'noop', count, jobs: count / size }
    const cost = await costOfRun({ ...farm, runs: count }, () => rateOf(harness, work))
    costs.push({ ...cost, title: `jobs of ${size.toLocaleString('en')}` })
  }
  printCosts(costs)
  const [largest] = costs
  for (const { title, cpu } of costs)
    yield {
      part: 'g',
      name: `CPU of a run in ${title}`,
      value: farmOf(cpu),
      unit: 'µs',
      ...(largest && title !== largest.title
        ? { limit: { what: `in ${largest.title}`, value: farmOf(largest.cpu) } }
        : {}),
    }
}
