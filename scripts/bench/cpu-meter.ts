import type { TestCluster } from '@scanfarm/cli/testing'
import { say, table } from '@scanfarm/cli/demo'
import type { Database } from './cluster.ts'
import { number } from './figure.ts'
import { allProcesses, descendantsOf, machineTimes, type ProcessTimes } from './proc.ts'

/** All but `steal` add up to the CPU time that the machine spent. */
export const COMPONENTS = [
  'worker',
  'launcher',
  'commands',
  'master',
  'Postgres',
  'Redis',
  'bench',
  'interrupts',
  'other',
  'steal',
] as const
/** CPU time of each component in µs. */
export type CpuTimes = Readonly<Record<(typeof COMPONENTS)[number], number>>

const totalOf = ({ steal: _, ...spent }: CpuTimes): number => sum(Object.values(spent))

/** Without the bench and other programs: comparable on a machine with other load, too. */
export const farmOf = ({ worker, launcher, commands, master, Postgres, Redis }: CpuTimes): number =>
  sum([worker, launcher, commands, master, Postgres, Redis])

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

export interface Cost {
  /** CPU time of a run in µs. */
  readonly cpu: CpuTimes
  /** Runs per second. */
  readonly rate: number
}

/** The cost of a run. `execute` executes that many runs and returns their rate. */
export async function costOfRun(
  { cluster, db, runs }: { cluster: TestCluster; db: Database; runs: number },
  execute: () => Promise<number>,
): Promise<Cost> {
  let rate = 0
  const spent = await cpuDuring(cluster, db, async () => (rate = await execute()))
  return { cpu: mapCpu((name) => spent[name] / runs), rate }
}

export const meanOf = (costs: readonly Cost[]): Cost => ({
  cpu: mapCpu((name) => sum(costs.map(({ cpu }) => cpu[name])) / costs.length),
  rate: costs.length / sum(costs.map(({ rate }) => 1 / rate)),
})

/** Prints the costs side by side, with more rows below. */
export function printCosts(
  costs: readonly (Cost & { readonly title: string })[],
  more: string[][] = [],
): void {
  const row = (name: string, of: (cost: Cost) => number): string[] => [
    name,
    ...costs.map((cost) => number(of(cost))),
  ]
  say('')
  table(
    ['CPU time of a run in µs', ...costs.map(({ title }) => title)],
    [
      ...COMPONENTS.slice(0, -1).map((name) => row(name, ({ cpu }) => cpu[name])),
      row('farm: worker to Redis', ({ cpu }) => farmOf(cpu)),
      row('total', ({ cpu }) => totalOf(cpu)),
      row('steal, not in the total', ({ cpu }) => cpu.steal),
      row('runs a second', ({ rate }) => rate),
      ...more,
    ],
  )
}

/** CPU time that each component of a farm spends during `work`. */
async function cpuDuring(
  cluster: TestCluster,
  db: Database,
  work: () => Promise<unknown>,
): Promise<CpuTimes> {
  const [postgres, redis] = [await postmasterOf(db), await redisPid(cluster)]
  const before = snapshot(cluster, { postgres, redis })
  await work()
  const after = snapshot(cluster, { postgres, redis })
  return mapCpu((name) => after[name] - before[name])
}

const mapCpu = (value: (name: keyof CpuTimes) => number): CpuTimes =>
  Object.fromEntries(COMPONENTS.map((name) => [name, value(name)])) as Record<keyof CpuTimes, number>

function snapshot(cluster: TestCluster, { postgres, redis }: { postgres: number; redis: number }): CpuTimes {
  const all = allProcesses()
  const find = (pid: number): ProcessTimes[] => all.filter((one) => one.pid === pid)
  const tree = (pid: number): ProcessTimes[] => [...find(pid), ...descendantsOf(pid, all)]
  const own = (processes: readonly ProcessTimes[]): number => sum(processes.map((one) => one.own))
  const reaped = (processes: readonly ProcessTimes[]): number => sum(processes.map((one) => one.reaped))
  const spent = (processes: readonly ProcessTimes[]): number => own(processes) + reaped(processes)
  const workers = cluster.workers.filter(({ running }) => running).map(({ pid }) => pid)
  const machine = machineTimes()
  const known = {
    worker: own(workers.flatMap(find)),
    // Between two jobs the only descendants of a worker are its launcher and what belongs to it.
    launcher: own(workers.flatMap((pid) => descendantsOf(pid, all))),
    commands: reaped(workers.flatMap(tree)),
    master: spent(cluster.masters.flatMap(({ program }) => tree(program.pid))),
    Postgres: spent(tree(postgres)),
    Redis: spent(tree(redis)),
    bench: spent(find(process.pid)),
    interrupts: machine.interrupts,
  }
  return { ...known, other: machine.busy - sum(Object.values(known)), steal: machine.steal }
}

async function postmasterOf(db: Database): Promise<number> {
  const { pid } = await db.one<{ pid: number }>('select pg_backend_pid() as pid')
  return allProcesses().find((one) => one.pid === pid)?.parent ?? 0
}

const redisPid = async ({ redis }: TestCluster): Promise<number> =>
  Number(/process_id:(\d+)/.exec((await redis?.command('INFO server')) ?? '')?.[1] ?? 0)
