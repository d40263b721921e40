import { expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { startPgbouncer } from '@scanfarm/testing/pgbouncer'
import pg from 'pg'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { migrate, openStore } from '../src/index.ts'
import { openPool } from '../src/database/connection.ts'
import { demandFitness } from '../src/database/fitness.ts'
import { asSuperuser, emptyDatabase, testDatabase } from './database.ts'
import { submitted } from './fixtures.ts'

const db = forAllTests(() => testDatabase())

const DEAF = /notifications of Postgres do not arrive.*DATABASE_DIRECT_URL/

/** A store behind the pooler, and what it logs. */
const openBehind = async (url: string, directUrl?: string) => {
  const logged: string[] = []
  const direct = directUrl === undefined ? {} : { directUrl }
  const log = (message: string) => void logged.push(message)
  const store = await openStore({ url, ...direct, poolSize: 4, applicationName: 'behind', log })
  return { store, logged }
}

test.each(['session', 'transaction'] as const)(
  'A database behind PgBouncer in %s mode is migrated and used',
  async (mode) => {
    await using empty = await emptyDatabase()
    await using pooler = await startPgbouncer(empty.url, mode)
    expect((await migrate({ url: pooler.url })).applied.length).toBeGreaterThan(0)
    const { store } = await openBehind(pooler.url)
    await using _store = store
    await store.check()
    expect((await submitted(store)).runIds).toHaveLength(1)
  },
)

test('PgBouncer in statement mode is refused with the mode to set', async () => {
  await using pooler = await startPgbouncer(db.url, 'statement')
  await expect(migrate({ url: pooler.url })).rejects.toThrow('set its pool_mode to transaction or session')
})

test('Behind a transaction pooler the store warns once that notifications do not arrive, and polls', async () => {
  await using pooler = await startPgbouncer(db.url, 'transaction')
  const { store, logged } = await openBehind(pooler.url)
  await using _store = store
  let polls = 0
  await using _listening = await store.listen(() => void polls++)
  await until(() => polls > 5)
  expect(logged.filter((line) => DEAF.test(line))).toHaveLength(1)
  // No connection of the pooler goes on to listen.
  const { rows } = await db.sql(
    `select query from pg_stat_activity where query ilike 'listen %' and datname = current_database()`,
  )
  expect(rows).toEqual([])
})

test('With a direct address notifications arrive, and nothing is polled', async () => {
  await using pooler = await startPgbouncer(db.url, 'transaction')
  const { store, logged } = await openBehind(pooler.url, db.url)
  await using _store = store
  let notified = 0
  await using _listening = await store.listen(() => void notified++)
  expect(notified).toBe(1)
  await db.sql('notify scanfarm_masters')
  await until(() => notified > 1)
  expect(notified).toBe(2)
  expect(logged).toEqual([])
})

test('A database with another encoding than UTF8 is refused before the migration', async () => {
  const name = `scanfarm_latin_${process.pid}`
  const create = `create database ${name} encoding 'LATIN1' locale 'C' template template0`
  await db.sql(create)
  const url = new URL(db.url)
  url.pathname = `/${name}`
  try {
    await expect(migrate({ url: url.href })).rejects.toThrow(/has the encoding LATIN1.*encoding 'UTF8'/)
    const { rows } = await asSuperuser(
      (client) => client.query(`select from pg_class where relname = 'runs'`),
      url.href,
    )
    expect(rows).toEqual([])
  } finally {
    await db.sql(`drop database ${name}`)
  }
})

test('Connections that others use are a warning with all numbers, so that a rolling update can start', async () => {
  const login = `scanfarm_used_${process.pid}`
  await db.sql(`create role ${login} login password 'used' connection limit 9`)
  const url = new URL(db.url)
  url.username = login
  url.password = 'used'
  const others = Array.from({ length: 4 }, () => new pg.Client({ connectionString: url.href }))
  const pool = openPool({ url: url.href, poolSize: 1, applicationName: 'scanfarm test' })
  try {
    expect(await demandFitness(pool, 9)).toBeUndefined()
    for (const other of others) await other.connect()
    expect(await demandFitness(pool, 5)).toBeUndefined()
    expect(await demandFitness(pool, 6)).toContain(
      `a server takes up to 6 connections to Postgres (database.pool_server), and the login ${login} (alter role … connection limit) allows 9, of which 4 are in use`,
    )
  } finally {
    await Promise.all([...others.map((other) => other.end()), pool.end()])
    await db.sql(`drop role ${login}`)
  }
})

test('A login with fewer connections than a server takes is refused with both numbers', async () => {
  const login = `scanfarm_few_${process.pid}`
  await db.sql(`create role ${login} login password 'few' connection limit 9`)
  const url = new URL(db.url)
  url.username = login
  url.password = 'few'
  try {
    await expect(migrate({ url: url.href, connections: 16 })).rejects.toThrow(
      `a server needs 16 connections to Postgres (database.pool_server), and the login ${login} (alter role … connection limit) allows 9`,
    )
  } finally {
    await db.sql(`drop role ${login}`)
  }
})
