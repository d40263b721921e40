import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import { openPostgresBase } from '../src/index.ts'
import { emptyDatabase } from './database.ts'

test('A read rejects when the base database closes its connection', async () => {
  await using source = await emptyDatabase()
  await source.sql('create table runs as select n as id from generate_series(1, 600) n')
  await using base = await openPostgresBase({ connectionString: source.url })
  const rows = base.rows('runs', ['id'])[Symbol.asyncIterator]()
  expect((await rows.next()).value).toMatchObject({ id: 1 })
  await source.sql(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'scanfarm import-base' and datname = current_database()`,
  )
  await delay(100)
  const rest = async (): Promise<void> => {
    while ((await rows.next()).done !== true);
  }
  await expect(rest()).rejects.toThrow()
})
