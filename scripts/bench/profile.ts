import type { TestCluster } from '@scanfarm/cli/testing'
import { table } from '../demo/screen.ts'
import { Database, startCluster } from './cluster.ts'
import { COMPONENTS, cpuDuring, farmOf, totalOf, type CpuTimes } from './cpu-meter.ts'
import { atMost, number, type Figure } from './figure.ts'
import type { Harness } from './harness.ts'
import { COUNTABLE, countStatements, track, type Counted } from './statements.ts'
import { rateOf } from './throughput.ts'

const US_PER_MS = 1_000
/** Workers × slots of each. */
const SHAPES = process.env.BENCH_SHAPES?.split(',') ?? ['1x16', '1x64', '2x8']
/** As many slots on one worker as on two. */
const [ONE, TWO] = ['1x16', '2x8']
const MODULES = ['noop', 'skip'] as const
const STATEMENTS_SHOWN = 14
const MOST_TEXT = 100

interface Profile {
  readonly module: (typeof MODULES)[number]
  readonly shape: string
  /** CPU time of a run in µs. */
  readonly cpu: CpuTimes
  readonly rate: number
  readonly runs: number
  readonly counted: Counted
}

/** (j) CPU time of a run by component, with a process and without one. `BENCH_SHAPES=1x16` measures one shape only. */
export async function* profile(harness: Harness): AsyncGenerator<Figure> {
  const profiles: Profile[] = []
  for (const shape of SHAPES) profiles.push(...(await profilesOf(harness, shape)))
  profiles.sort((a, b) => a.module.localeCompare(b.module))
  harness.note('')
  table(['CPU time of a run in µs', ...profiles.map(titleOf)], rowsOf(profiles))
  for (const one of profiles.filter(({ shape }) => shape === ONE)) printStatements(one)
  for (const one of profiles)
    yield {
      part: 'j',
      name: `CPU of a run, ${titleOf(one)}`,
      value: farmOf(one.cpu),
      unit: 'µs',
      ...goalOf(one, profiles),
    }
}

const titleOf = ({ module, shape }: Profile): string => `${module} ${shape}`

/** Two workers are compared with one worker of as many slots. */
function goalOf({ module, shape }: Profile, profiles: readonly Profile[]): Pick<Figure, 'limit' | 'target'> {
  const one = profiles.find((other) => other.module === module && other.shape === ONE)
  if (shape !== TWO || !one) return {}
  return { limit: { what: 'one worker', value: farmOf(one.cpu) }, target: atMost(1.1, 'ratio') }
}

async function profilesOf(harness: Harness, shape: string): Promise<Profile[]> {
  const [workers = 1, slots = 1] = shape.split('x').map(Number)
  const runs = harness.quick ? 1_200 : 10_000
  await using cluster = await startCluster(harness, { workers, slots, postgres: COUNTABLE })
  await using db = await Database.open(cluster.postgres.url)
  await track(db, 'none')
  const rate = (module: string, count: number) => rateOf(harness, { cluster, db, module, count })
  const profiles: Omit<Profile, 'counted'>[] = []
  for (const module of MODULES) {
    await rate(module, runs / 3)
    profiles.push({ module, shape, runs: runs / 3, ...(await cpuOfRun(cluster, db, { module, runs, rate })) })
  }
  const complete: Profile[] = []
  for (const one of profiles)
    complete.push({ ...one, counted: await countStatements(db, () => rate(one.module, one.runs)) })
  return complete
}

async function cpuOfRun(
  cluster: TestCluster,
  db: Database,
  {
    module,
    runs,
    rate,
  }: { module: string; runs: number; rate: (module: string, count: number) => Promise<number> },
): Promise<{ cpu: CpuTimes; rate: number }> {
  let reached = 0
  const spent = await cpuDuring(cluster, db, async () => (reached = await rate(module, runs)))
  const cpu = Object.fromEntries(COMPONENTS.map((name) => [name, spent[name] / runs]))
  return { cpu: cpu as Record<keyof CpuTimes, number>, rate: reached }
}

function rowsOf(profiles: readonly Profile[]): string[][] {
  const row = (name: string, cell: (one: Profile) => string): string[] => [name, ...profiles.map(cell)]
  const names = new Set(profiles.flatMap(({ counted }) => counted.batches.map(({ name }) => name)))
  return [
    ...COMPONENTS.filter((name) => name !== 'steal').map((name) =>
      row(name, ({ cpu }) => cpu[name].toFixed(0)),
    ),
    row('farm: worker to Redis', ({ cpu }) => farmOf(cpu).toFixed(0)),
    row('total', ({ cpu }) => totalOf(cpu).toFixed(0)),
    row('steal, not in the total', ({ cpu }) => cpu.steal.toFixed(0)),
    row('runs a second', ({ rate }) => number(rate)),
    ...[...names].flatMap((called) => [
      row(`worker.${called}: calls a run`, (one) => (batchOf(one, called).calls / one.runs).toFixed(3)),
      row(`worker.${called}: items a call`, (one) => {
        const { calls, items } = batchOf(one, called)
        return calls === 0 ? '' : (items / calls).toFixed(1)
      }),
    ]),
  ]
}

const batchOf = ({ counted }: Profile, called: string): { calls: number; items: number } =>
  counted.batches.find(({ name }) => name === called) ?? { calls: 0, items: 0 }

function printStatements(one: Profile): void {
  const shown = one.counted.statements.slice(0, STATEMENTS_SHOWN)
  table(
    [`${titleOf(one)}: Postgres by statement`, 'µs a run', 'calls a run', 'µs a call'],
    shown.map(({ text, calls, ms, top }) => [
      `${top ? '' : '  '}${text.slice(0, MOST_TEXT)}`,
      number((ms * US_PER_MS) / one.runs),
      (calls / one.runs).toFixed(3),
      number((ms * US_PER_MS) / calls),
    ]),
  )
}
