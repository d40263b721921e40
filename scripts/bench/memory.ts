import type { TestCluster } from '@scanfarm/cli/testing'
import type { Harness } from './harness.ts'
import { Database, hosts, post, postMany, startCluster, untilEnded } from './cluster.ts'
import { atMost, type Figure } from './figure.ts'
import { descendantsOf, readProc } from './proc.ts'
import { keepBusy } from './submit.ts'

const SAMPLE_MS = 200
const KIB_PER_MIB = 1024
const MOST_MIB = 200
const MOST_UNDER_LOAD_MIB = 180

/** (e) Resident memory of a master and a worker: when idle, under load, and while a million runs wait. */
export async function* memory(harness: Harness): AsyncGenerator<Figure> {
  await using cluster = await startCluster(harness, { workers: 1, slots: 8 })
  await using db = await Database.open(cluster.postgres.url)
  yield* figures('when idle', sizes(cluster), MOST_MIB)
  yield* figures('under load, peak', await underLoad(harness, cluster, db), MOST_UNDER_LOAD_MIB)
  // How much of the file of Node is mapped depends on how it came into the page cache. Programs share those pages.
  yield* figures('after the load, without pages of files', sizes(cluster, 'RssAnon'), undefined)
  const deep = await deepQueue(harness, cluster, db)
  const runs = deep.runs.toLocaleString('en')
  yield* figures(`while ${runs} runs are submitted, peak`, deep.peak, MOST_MIB)
  yield* figures(`${runs} runs queued`, deep.settled, MOST_MIB)
}

/** Of `/proc/<pid>/status`: all resident pages, or those that are not of files. */
type MemoryField = 'VmRSS' | 'RssAnon'

interface Sizes {
  readonly master: number
  readonly worker: number
  /** The process that starts the commands of a worker. */
  readonly launcher: number
}

const figures = (when: string, sizes: Sizes, most: number | undefined): Figure[] =>
  (['master', 'worker', 'launcher'] as const).map((who) => ({
    part: 'e',
    name: `${who} ${when}`,
    value: sizes[who],
    unit: 'MiB',
    ...(who === 'launcher' || most === undefined ? {} : { target: atMost(most) }),
  }))

function sizes(cluster: TestCluster, field: MemoryField = 'VmRSS'): Sizes {
  const master = cluster.masters[0]?.program.pid ?? 0
  const worker = cluster.workers[0]?.pid ?? 0
  const launcher = descendantsOf(worker).find(({ pid }) => readProc(`${pid}/cmdline`).includes('launcher'))
  return {
    master: mib(master, field),
    worker: mib(worker, field),
    launcher: launcher === undefined ? 0 : mib(launcher.pid, field),
  }
}

const larger = (a: Sizes, b: Sizes): Sizes => ({
  master: Math.max(a.master, b.master),
  worker: Math.max(a.worker, b.worker),
  launcher: Math.max(a.launcher, b.launcher),
})

function mib(pid: number, field: MemoryField): number {
  const line = new RegExp(`^${field}:\\s+(\\d+) kB`, 'm').exec(readProc(`${pid}/status`))
  return Number(line?.[1] ?? 0) / KIB_PER_MIB
}

/** The peak during `work`. */
async function peakDuring(cluster: TestCluster, work: () => Promise<unknown>): Promise<Sizes> {
  let seen = sizes(cluster)
  const timer = setInterval(() => (seen = larger(seen, sizes(cluster))), SAMPLE_MS)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return larger(seen, sizes(cluster))
}

function underLoad(harness: Harness, cluster: TestCluster, db: Database): Promise<Sizes> {
  const count = harness.quick ? 1_000 : 10_000
  harness.note(`memory while ${count} runs are executed`)
  return peakDuring(cluster, async () => {
    const { job_id } = await post(cluster, { module: 'noop', targets: hosts(count) })
    await untilEnded(db, job_id, {
      onProgress: (done, total) => harness.progress(done, total, 'runs'),
    })
  })
}

async function deepQueue(
  harness: Harness,
  cluster: TestCluster,
  db: Database,
): Promise<{ runs: number; peak: Sizes; settled: Sizes }> {
  const runs = harness.quick ? 150_000 : 1_000_000
  harness.note(`memory while ${runs} runs are submitted with a target file, and wait`)
  await keepBusy(cluster)
  const peak = await peakDuring(cluster, () =>
    postMany(harness, { cluster, db, runs, body: { module: 'noop' } }),
  )
  return { runs, peak, settled: sizes(cluster) }
}
