import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { TestCluster } from '@scanfarm/cli/testing'
import { Database, hosts, medianMs, post, untilEnded, type Harness } from './farm.ts'
import { atLeast, type Figure } from './figure.ts'

const run = promisify(execFile)
const WARM_UP = 200
const XARGS_WIDTH = 8
const XARGS_TRIES = 3

interface Load {
  readonly module: 'noop' | 'skip'
  /** The slots of all workers together. */
  readonly slots: number
}

/** Enough slots to keep two cores busy with processes, few enough not to wait for each other. */
const WITH_PROCESS: Load = { module: 'noop', slots: 16 }
/** Without a process only round trips count, and concurrent runs share them. */
const WITHOUT_PROCESS: Load = { module: 'skip', slots: 64 }

/** From submit to the last result, with a process for each target and without one. */
export async function* throughput(harness: Harness): AsyncGenerator<Figure> {
  const count = harness.quick ? 1_000 : 10_000
  const xargs = { what: 'xargs', value: await xargsRate(harness) }
  for (const workers of [1, 2])
    for (const load of [WITH_PROCESS, WITHOUT_PROCESS]) {
      const named = `${count.toLocaleString('en')} targets, ${workers} worker${workers > 1 ? 's' : ''}`
      const value = await rateOnNewFarm(harness, { ...load, workers, count })
      yield load === WITH_PROCESS
        ? { name: named, value, unit: '/s', limit: xargs, goal: atLeast(0.5, 'ratio') }
        : { name: `${named}, no process`, value, unit: '/s', goal: atLeast(4_000) }
    }
}

/** Commands per second with `xargs -P`, which forks from a small C program and records nothing. */
async function xargsRate(harness: Harness): Promise<number> {
  const count = harness.quick ? 1_000 : 3_000
  harness.note(`limit: xargs -P ${XARGS_WIDTH}`)
  const pipeline = `seq ${count} | xargs -P ${XARGS_WIDTH} -n 1 /bin/sh -c true`
  return (count / (await medianMs(XARGS_TRIES, () => run('/bin/sh', ['-c', pipeline])))) * 1_000
}

async function rateOnNewFarm(
  harness: Harness,
  { workers, slots, module, count }: Load & { workers: number; count: number },
): Promise<number> {
  await using cluster = await harness.startCluster({ workers, slots: slots / workers })
  await using db = await Database.open(cluster.postgres.url)
  await rateOf(harness, { cluster, db, module, count: WARM_UP })
  return await rateOf(harness, { cluster, db, module, count })
}

/** Targets per second, from the moment before `POST /runs` to the end of the last run. */
export async function rateOf(
  harness: Harness,
  { cluster, db, module, count }: { cluster: TestCluster; db: Database; module: string; count: number },
): Promise<number> {
  const began = Date.now()
  const jobId = await post(cluster, { module, targets: hosts(count) })
  const onProgress = (done: number, total: number): void => harness.progress(done, total, module)
  return (count / ((await untilEnded(db, jobId, { onProgress })) - began)) * 1_000
}
