import { until } from '@scanfarm/cli/testing'
import { Database, hosts, medianMs, percentile, post, type Harness } from './farm.ts'
import { atMost, type Figure } from './figure.ts'

const TRIES = 5
const CANCELLED_MS = 60_000

/** The time of a request with many targets. */
export async function* submit(harness: Harness): AsyncGenerator<Figure> {
  await using cluster = await harness.startCluster({ workers: 0 })
  await using db = await Database.open(cluster.postgres.url)
  for (const count of [1_000, 10_000]) {
    harness.note(`POST /runs with ${count} targets`)
    const times: number[] = []
    for (let attempt = 0; attempt < TRIES; attempt++) {
      const began = performance.now()
      const jobId = await post(cluster, { module: 'noop', targets: hosts(count) })
      times.push(performance.now() - began)
      await cluster.client.post(`/jobs/${jobId}/cancel`)
      // The next submission would compete with the cancel.
      const path = `/runs?job_id=${jobId}&status=queued&limit=1`
      const left = () => cluster.client.get<{ pagination: { total: number } }>(path)
      await until('all are cancelled', async () => (await left()).pagination.total === 0, CANCELLED_MS)
    }
    yield {
      name: `POST of ${count.toLocaleString('en')} targets until 202`,
      value: percentile(times, 50),
      unit: 'ms',
      limit: { what: 'unnest insert', value: await insertMs(db, count) },
      goal: count === 1_000 ? atMost(40) : atMost(2, 'ratio'),
    }
  }
}

/**
 * Milliseconds of one statement that inserts `count` targets by `unnest` into a plain table with a key, and commits.
 * No API can store as many runs in less time.
 */
async function insertMs(db: Database, count: number): Promise<number> {
  await db.rows(TABLE)
  const ms = await medianMs(TRIES, () => db.rows(INSERT, [hosts(count)]))
  await db.rows('drop table bench_bare_runs')
  return ms
}

const TABLE = `
create table bench_bare_runs (
  id bigint generated always as identity primary key,
  run_uuid uuid not null default gen_random_uuid(),
  target text not null,
  status text not null
)`

const INSERT = `
insert into bench_bare_runs (target, status) select t, 'queued' from unnest($1::text[]) t returning id`
