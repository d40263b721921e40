import { table } from '@scanfarm/cli/demo'
import { Database, startCluster } from './cluster.ts'
import { costOfRun, farmOf, printCosts, type Cost } from './cpu-meter.ts'
import { atMost, number, type Figure } from './figure.ts'
import type { Harness } from './harness.ts'
import { COUNTABLE, countStatements, track, type Counted } from './statements.ts'
import { rateOf } from './throughput.ts'

const US_PER_MS = 1_000
/** As many slots on one worker as on two. */
const [ONE, TWO] = ['1x16', '2x8']
/** Workers × slots of each. The last two show only how the cost grows. */
const ALL_SHAPES = [ONE, '1x64', TWO, '4x4', '8x2']
const QUICK_SHAPES = [ONE, '1x64', TWO]
const MODULES = ['noop', 'skip']

const WARM_UP = 400
const COUNTED = 1_000
const STATEMENTS_SHOWN = 14
const MOST_TEXT = 100

interface Profile extends Cost {
  readonly title: string
  readonly module: string
  readonly shape: string
  readonly counted: Counted
  /** Runs while statements were counted. */
  readonly runs: number
}

/**
 * (f) CPU time of a run by component, with a process and without one. `BENCH_SHAPES=1x16,2x8` and `BENCH_MODULES=skip`
 * select some of the measurements.
 */
export async function* profile(harness: Harness): AsyncGenerator<Figure> {
  const { BENCH_SHAPES, BENCH_MODULES } = process.env
  const shapes = BENCH_SHAPES?.split(',') ?? (harness.quick ? QUICK_SHAPES : ALL_SHAPES)
  const modules = BENCH_MODULES?.split(',') ?? MODULES
  const profiles: Profile[] = []
  for (const shape of shapes) profiles.push(...(await profilesOf(harness, shape, modules)))
  profiles.sort((a, b) => modules.indexOf(a.module) - modules.indexOf(b.module))
  printCosts(profiles, callRows(profiles))
  for (const one of profiles.filter(({ shape }) => shape === shapes[0])) printStatements(one)
  for (const one of profiles)
    yield {
      part: 'f',
      name: `CPU of a run, ${one.title}`,
      value: farmOf(one.cpu),
      unit: 'µs',
      ...goalOf(one, profiles),
    }
}

/** Two workers are compared with one worker of as many slots. */
function goalOf({ module, shape }: Profile, profiles: readonly Profile[]): Pick<Figure, 'limit' | 'target'> {
  const one = profiles.find((other) => other.module === module && other.shape === ONE)
  if (shape !== TWO || !one) return {}
  return { limit: { what: 'one worker', value: farmOf(one.cpu) }, target: atMost(1.1, 'ratio') }
}

async function profilesOf(harness: Harness, shape: string, modules: readonly string[]): Promise<Profile[]> {
  const [workers = 1, slots = 1] = shape.split('x').map(Number)
  const runs = harness.quick ? 1_200 : 10_000
  await using cluster = await startCluster(harness, { workers, slots, postgres: COUNTABLE })
  await using db = await Database.open(cluster.postgres.url)
  await track(db, 'none')
  const execute = (module: string, count: number) => rateOf(harness, { cluster, db, module, count })
  const costs: { module: string; cost: Cost }[] = []
  for (const module of modules) {
    await execute(module, WARM_UP)
    costs.push({ module, cost: await costOfRun({ cluster, db, runs }, () => execute(module, runs)) })
  }
  const profiles: Profile[] = []
  for (const { module, cost } of costs) {
    const counted = await countStatements(db, () => execute(module, COUNTED))
    profiles.push({ ...cost, title: `${module} ${shape}`, module, shape, counted, runs: COUNTED })
  }
  return profiles
}

function callRows(profiles: readonly Profile[]): string[][] {
  const names = new Set(profiles.flatMap(({ counted }) => counted.batches.map(({ name }) => name)))
  const row = (name: string, cell: (one: Profile) => string): string[] => [name, ...profiles.map(cell)]
  return [...names].flatMap((called) => [
    row(`worker.${called}: calls a run`, (one) => (batchOf(one, called).calls / one.runs).toFixed(3)),
    row(`worker.${called}: items a call`, (one) => {
      const { calls, items } = batchOf(one, called)
      return calls === 0 ? '' : (items / calls).toFixed(1)
    }),
  ])
}

const batchOf = ({ counted }: Profile, called: string): { calls: number; items: number } =>
  counted.batches.find(({ name }) => name === called) ?? { calls: 0, items: 0 }

function printStatements(one: Profile): void {
  const shown = one.counted.statements.slice(0, STATEMENTS_SHOWN)
  table(
    [`${one.title}: Postgres by statement`, 'µs a run', 'calls a run', 'µs a call'],
    shown.map(({ text, calls, ms, top }) => [
      `${top ? '' : '  '}${text.slice(0, MOST_TEXT)}`,
      number((ms * US_PER_MS) / one.runs),
      (calls / one.runs).toFixed(3),
      number((ms * US_PER_MS) / calls),
    ]),
  )
}
