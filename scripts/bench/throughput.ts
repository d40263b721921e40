import type { TestCluster } from '@scanfarm/cli/testing'
import type { Harness } from './harness.ts'
import { Database, hosts, post, startCluster, untilEnded } from './cluster.ts'
import { atLeast, type Figure } from './figure.ts'
import { bareNodeRate, xargsRate } from './limits/spawn.ts'

const WARM_UP = 200

interface Load {
  readonly module: 'noop' | 'skip'
  /** The slots of all workers together. */
  readonly slots: number
}

/** Enough slots to keep two cores busy with processes, few enough not to wait for each other. */
const WITH_PROCESS: Load = { module: 'noop', slots: 16 }
/** Without a process only round trips count, and concurrent runs share them. */
const WITHOUT_PROCESS: Load = { module: 'skip', slots: 64 }

/** (a) From submit to the last result, with a process for each target and without one. */
export async function* throughput(harness: Harness): AsyncGenerator<Figure> {
  const xargs = { what: 'xargs', value: await xargsRate(harness) }
  const bare = await bareNodeRate(harness)
  yield { part: 'a', name: 'bare Node spawning the same command', value: bare, unit: '/s', limit: xargs }
  for (const workers of [1, 2])
    for await (const { count, rate } of ratesOf(harness, workers, WITH_PROCESS))
      yield {
        part: 'a',
        name: named(count, workers),
        value: rate,
        unit: '/s',
        limit: xargs,
        ...(isGoal(harness, count) ? { target: atLeast(0.5, 'ratio') } : {}),
      }
  for (const workers of [1, 2])
    for await (const { count, rate } of ratesOf(harness, workers, WITHOUT_PROCESS))
      yield {
        part: 'a',
        name: `${named(count, workers)}, no process`,
        value: rate,
        unit: '/s',
        ...(isGoal(harness, count) ? { target: atLeast(4_000) } : {}),
      }
}

const countsOf = (harness: Harness): number[] => (harness.quick ? [1_000] : [1_000, 10_000])
/** The goals are those of the largest job. */
const isGoal = (harness: Harness, count: number): boolean => count === countsOf(harness).at(-1)

const named = (count: number, workers: number): string =>
  `${count.toLocaleString('en')} targets, ${workers} worker${workers > 1 ? 's' : ''}`

async function* ratesOf(
  harness: Harness,
  workers: number,
  { module, slots }: Load,
): AsyncGenerator<{ count: number; rate: number }> {
  await using cluster = await startCluster(harness, { workers, slots: slots / workers })
  await using db = await Database.open(cluster.postgres.url)
  await rateOf(harness, { cluster, db, module, count: WARM_UP })
  for (const count of countsOf(harness))
    yield { count, rate: await rateOf(harness, { cluster, db, module, count }) }
}

export interface Work {
  readonly cluster: TestCluster
  readonly db: Database
  readonly module: string
  /** Runs of all jobs together. */
  readonly count: number
  /** Default: one. They are submitted one after the other, without waiting for their runs. */
  readonly jobs?: number
}

/** Targets per second, from the moment before the first `POST /runs` to the end of the last run. */
export async function rateOf(
  harness: Harness,
  { cluster, db, module, count, jobs = 1 }: Work,
): Promise<number> {
  const workers = cluster.workers.filter(({ running }) => running).length
  harness.note(`${count} runs of ${module} on ${workers} workers${jobs > 1 ? ` in ${jobs} jobs` : ''}`)
  const began = Date.now()
  const jobIds: string[] = []
  for (let job = 0; job < jobs; job++)
    jobIds.push((await post(cluster, { module, targets: hosts(count / jobs, `host-${job}`) })).job_id)
  let ended = 0
  for (const jobId of jobIds) {
    const onProgress = (done: number, total: number): void => harness.progress(done, total, module)
    ended = Math.max(ended, await untilEnded(db, jobId, { onProgress }))
  }
  return (count / (ended - began)) * 1_000
}
