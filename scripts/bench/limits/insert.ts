import pg from 'pg'
import type { Harness } from '../harness.ts'
import { medianMs } from '../timing.ts'

const TRIES = 5

/**
 * Milliseconds of one statement that inserts `count` targets by `unnest` into a plain table with a key, and commits.
 * No API can store as many runs in less time.
 */
export const insertMs = (harness: Harness, databaseUrl: string, count: number): Promise<number> =>
  harness.once(`limit: one bare unnest insert of ${count} targets`, async () => {
    const client = new pg.Client({ connectionString: databaseUrl })
    await client.connect()
    try {
      await client.query(TABLE)
      const targets = Array.from({ length: count }, (_, index) => `host-${index}.example.com`)
      return await medianMs(TRIES, () => client.query(INSERT, [targets]))
    } finally {
      await client.query('drop table if exists bench_bare_runs')
      await client.end()
    }
  })

const TABLE = `
create table bench_bare_runs (
  id bigint generated always as identity primary key,
  run_uuid uuid not null default gen_random_uuid(),
  target text not null,
  status text not null
)`

const INSERT = `
insert into bench_bare_runs (target, status) select t, 'queued' from unnest($1::text[]) t returning id`
