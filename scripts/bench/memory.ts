import { readdirSync, readFileSync } from 'node:fs'
import { until, type TestCluster } from '@scanfarm/cli/testing'
import type { Bench } from './bench.ts'
import { Database, hosts, post, startFarm, untilEnded } from './farms.ts'
import { atMost, type Figure } from './figure.ts'
import { keepBusy } from './submit.ts'

const SAMPLE_MS = 200
const EXPANDED_MS = 600_000
const KIB_PER_MIB = 1024
const MOST_MIB = 200

/** (g) Resident memory of a master and a worker: at rest, under load, and while a million runs wait. */
export async function* memory(bench: Bench): AsyncGenerator<Figure> {
  await using farm = await startFarm(bench, { workers: 1, slots: 8 })
  await using db = await Database.open(farm.postgres.url)
  yield* figures('at rest', sizes(farm))
  yield* figures('under load, most', await underLoad(bench, farm, db))
  const deep = await deepQueue(bench, farm, db)
  const runs = deep.runs.toLocaleString('en')
  yield* figures(`while ${runs} runs are submitted, most`, deep.most)
  yield* figures(`${runs} runs queued`, deep.settled)
}

interface Sizes {
  readonly master: number
  readonly worker: number
  /** The process that starts the commands of a worker. */
  readonly launcher: number
}

const figures = (when: string, sizes: Sizes): Figure[] =>
  (['master', 'worker', 'launcher'] as const).map((who) => ({
    part: 'g',
    name: `${who} ${when}`,
    value: sizes[who],
    unit: 'MiB',
    ...(who === 'launcher' ? {} : { target: atMost(MOST_MIB) }),
  }))

function sizes(farm: TestCluster): Sizes {
  const master = farm.masters[0]?.program.pid ?? 0
  const worker = farm.workers[0]?.pid ?? 0
  const launcher = childrenOf(worker).find((pid) => commandOf(pid).includes('launcher'))
  return {
    master: rssMib(master),
    worker: rssMib(worker),
    launcher: launcher === undefined ? 0 : rssMib(launcher),
  }
}

const most = (a: Sizes, b: Sizes): Sizes => ({
  master: Math.max(a.master, b.master),
  worker: Math.max(a.worker, b.worker),
  launcher: Math.max(a.launcher, b.launcher),
})

function rssMib(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readProc(pid, 'status'))
  return Number(line?.[1] ?? 0) / KIB_PER_MIB
}

const commandOf = (pid: number): string => readProc(pid, 'cmdline')

const childrenOf = (parent: number): number[] =>
  readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0 && Number(/^PPid:\s+(\d+)/m.exec(readProc(pid, 'status'))?.[1]) === parent)

function readProc(pid: number, file: string): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    return ''
  }
}

/** The maximum during `work`. */
async function mostDuring(farm: TestCluster, work: () => Promise<unknown>): Promise<Sizes> {
  let seen = sizes(farm)
  const timer = setInterval(() => (seen = most(seen, sizes(farm))), SAMPLE_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return most(seen, sizes(farm))
}

function underLoad(bench: Bench, farm: TestCluster, db: Database): Promise<Sizes> {
  const count = bench.quick ? 1_000 : 10_000
  bench.note(`memory while ${count} runs are worked off`)
  return mostDuring(farm, async () => {
    const { job_id } = await post(farm, { module: 'noop', targets: hosts(count) })
    await untilEnded(db, job_id, {
      onProgress: (done, total) => bench.progress(done, total, 'runs'),
    })
  })
}

/** A target file of this size is uploaded over the API, as a user would send it. */
async function deepQueue(
  bench: Bench,
  farm: TestCluster,
  db: Database,
): Promise<{ runs: number; most: Sizes; settled: Sizes }> {
  const runs = bench.quick ? 150_000 : 1_000_000
  bench.note(`memory while ${runs} runs are submitted by a target file, and wait`)
  await keepBusy(farm)
  const seen = await mostDuring(farm, async () => {
    const file = await farm.client.upload('targets.txt', hosts(runs).join('\n'))
    const { job_id } = await post(farm, { module: 'noop', target_file: file.path })
    await untilExpanded(bench, db, job_id, runs)
  })
  return { runs, most: seen, settled: sizes(farm) }
}

const untilExpanded = (bench: Bench, db: Database, jobId: string, runs: number): Promise<boolean> =>
  until(
    'all runs are made',
    async () => {
      const { made } = await db.one<{ made: string }>(
        'select count(*) as made from runs where job_no = (select id from jobs where job_id = $1)',
        [jobId],
      )
      bench.progress(Number(made), runs, 'runs made')
      return Number(made) === runs
    },
    EXPANDED_MS,
  )
