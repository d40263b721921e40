import { expect, test } from '@jest/globals'
import type pg from 'pg'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openPool } from '../src/database/connection.ts'
import { openStore } from '../src/index.ts'
import { cuttableProxy } from './cuttable-proxy.ts'
import { asSuperuser, testDatabase } from './database.ts'
import { submitted } from './fixtures.ts'

const db = forAllTests(() => testDatabase())

const TIMEOUT_MS = 300
const pool = (url: string, log?: (message: string, facts: object) => void): pg.Pool =>
  openPool({ url, poolSize: 1, applicationName: 'bounded', statementTimeoutMs: TIMEOUT_MS }, log)

const noneSleeps = (): Promise<unknown> =>
  until(
    async () => {
      const text = `select from pg_stat_activity where application_name = 'bounded' and state = 'active'`
      return (await db.sql(text)).rowCount === 0
    },
    { limitMs: 10_000 },
  )

test('A statement that takes too long is ended on the server, and its connection stays usable', async () => {
  const own = pool(db.url)
  await expect(own.query('select pg_sleep(60)')).rejects.toMatchObject({ code: '57014' })
  await noneSleeps()
  expect((await own.query('select 1 as one')).rows).toEqual([{ one: 1 }])
  await own.end()
})

test('Neither settings of a function nor a catch-all handler bypass the time limit', async () => {
  const own = pool(db.url)
  await own.query(`create function defiant() returns void language plpgsql set statement_timeout = 0 as $$
    begin perform pg_sleep(60); exception when others then perform pg_sleep(60); end $$`)
  await expect(own.query('select defiant()')).rejects.toMatchObject({ code: '57014' })
  await own.end()
})

test('A connection that lost its timeout, as behind a pooler, has its statements cancelled', async () => {
  const steps: object[] = []
  const own = pool(db.url, (_message, facts) => steps.push(facts))
  await own.query('set statement_timeout = 0')
  await expect(own.query('select pg_sleep(60)')).rejects.toMatchObject({ code: '57014' })
  expect(steps).toEqual([{ step: 'cancel', timeoutMs: TIMEOUT_MS, application: 'bounded' }])
  await noneSleeps()
  await own.end()
})

test('A connection without a response is closed', async () => {
  await using proxy = await cuttableProxy(db.url)
  const own = pool(proxy.url)
  await own.query('select 1')
  await proxy.freeze()
  await expect(own.query('select 1')).rejects.toThrow(/Connection terminated/)
  await own.end()
})

test('A request that exceeds the time limit is refused and logged', async () => {
  const lines: object[] = []
  await using store = await openStore({
    url: db.url,
    poolSize: 1,
    applicationName: 'bounded',
    statementTimeoutMs: TIMEOUT_MS,
    log: (message, facts) => lines.push({ message, ...facts }),
  })
  const { jobId } = await submitted(db.store)
  await asSuperuser(async (other) => {
    await other.query('begin; lock table runs in access exclusive mode')
    await expect(store.jobs.report(jobId)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 10 })
    await other.query('rollback')
  }, db.url)
  expect(lines).toContainEqual({
    message: 'a database statement exceeded its time limit and was cancelled',
    call: 'report',
  })
  await until(async () => (await store.jobs.report(jobId)) !== undefined)
})
