import type { Farm } from '@scanfarm/cli/testing'
import type { Bench } from './bench.ts'
import { Database, hosts, post, startFarm, untilEnded } from './farms.ts'
import { atLeast, type Figure } from './figure.ts'
import { bareNodeRate, xargsRate } from './limits/spawn.ts'

const WARM_UP = 200
/** Slots of all workers together: enough to keep two cores busy, few enough not to queue for them. */
const SLOTS = 16

/** (a) From submit to the last result, with a process for each target and without one. */
export async function* throughput(bench: Bench): AsyncGenerator<Figure> {
  const xargs = { what: 'xargs', value: await xargsRate(bench) }
  const bare = await bareNodeRate(bench)
  yield { part: 'a', name: 'bare Node spawning the same command', value: bare, unit: '/s', limit: xargs }
  for (const workers of [1, 2]) {
    for await (const { count, module, rate } of ratesOf(bench, workers)) {
      const name = `${count.toLocaleString('en')} targets, ${workers} worker${workers > 1 ? 's' : ''}`
      yield module === 'noop'
        ? { part: 'a', name, value: rate, unit: '/s', limit: xargs, target: atLeast(0.4, 'ratio') }
        : { part: 'a', name: `${name}, no process`, value: rate, unit: '/s', target: atLeast(4_000) }
    }
  }
}

interface Rate {
  readonly count: number
  readonly module: string
  readonly rate: number
}

async function* ratesOf(bench: Bench, workers: number): AsyncGenerator<Rate> {
  await using farm = await startFarm(bench, { workers, slots: SLOTS / workers })
  await using db = await Database.open(farm.postgres.url)
  await rateOf(bench, { farm, db, module: 'noop', count: WARM_UP })
  for (const count of bench.quick ? [1_000] : [1_000, 10_000])
    for (const module of ['noop', 'skip'])
      yield { count, module, rate: await rateOf(bench, { farm, db, module, count }) }
}

/** Targets a second between the moment before `POST /runs` and the end of the last run. */
export async function rateOf(
  bench: Bench,
  { farm, db, module, count }: { farm: Farm; db: Database; module: string; count: number },
): Promise<number> {
  bench.note(`${count} runs of ${module} on ${farm.workers.length} workers`)
  const began = Date.now()
  const { job_id } = await post(farm, { module, targets: hosts(count) })
  const ended = await untilEnded(db, job_id, {
    onProgress: (done, total) => bench.progress(done, total, module),
  })
  return (count / (ended - began)) * 1_000
}
