import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Kysely, PostgresDialect, sql } from 'kysely'
import pg from 'pg'
import { boundedSearch } from '../src/findings/bounded-search.ts'
import { migrate, openStore, type Store } from '../src/index.ts'
import { asSuperuser, emptyDatabase, type OpenDatabase } from './database.ts'
import { findingOf } from './fixtures.ts'
import type { Tables } from '../src/tables.ts'

const page = { offset: 0, limit: 20 }

const finding = (assetValue: string) => findingOf({ asset_value: assetValue })

/** Forbids `create extension`, as an administrator may, or a Postgres without its contrib package. */
const FORBID = `
create function no_extension() returns event_trigger language plpgsql as $$
begin
  raise insufficient_privilege using message = 'no extensions here';
end $$;
create event trigger no_extension on ddl_command_start when tag in ('CREATE EXTENSION')
  execute function no_extension()`

describe('a database without pg_trgm', () => {
  let database: OpenDatabase
  let store: Store
  beforeAll(async () => {
    database = await emptyDatabase()
    await database.sql(FORBID)
    await migrate(database)
    store = await openStore({ url: database.url, poolSize: 2, applicationName: 'test' })
  })
  afterAll(async () => {
    await store[Symbol.asyncDispose]()
    await database[Symbol.asyncDispose]()
  })

  const indexes = async (): Promise<unknown[]> =>
    asSuperuser(
      async (client) =>
        (
          await client.query<{ indexname: string }>(
            "select indexname from pg_indexes where indexdef like '%gin_trgm_ops%' order by 1",
          )
        ).rows,
      database.url,
    )

  test('A database without pg_trgm can be migrated and searched, and gets the indexes when the extension is added', async () => {
    await store.check()
    expect(await indexes()).toEqual([])
    await store.vulnerabilities.import('w', 'nuclei', [
      finding('https://Shop.example'),
      finding('https://other.example'),
    ])
    const found = async () => (await store.vulnerabilities.list({ asset_value: 'SHOP' }, page)).data
    expect(await found()).toMatchObject([{ asset_value: 'https://Shop.example' }])

    await asSuperuser(async (client) => {
      await client.query('drop event trigger no_extension')
      // The statements of docs/findings.md.
      await client.query('create schema if not exists trigrams')
      await client.query('create extension pg_trgm schema trigrams')
      await client.query('select index_substrings()')
    }, database.url)
    expect(await indexes()).toEqual([{ indexname: 'assets_text' }, { indexname: 'vulnerabilities_text' }])
    expect(await found()).toHaveLength(1)
  })

  test('A search for a short part succeeds, and is refused if it takes too long', async () => {
    const short = await store.vulnerabilities.list({ asset_value: 'sh' }, page)
    expect(short).toMatchObject({ total: 1, data: [{ asset_value: 'https://Shop.example' }] })
    const db = new Kysely<Tables>({
      dialect: new PostgresDialect({ pool: new pg.Pool({ connectionString: database.url, max: 1 }) }),
    })
    const slow = (part: string) =>
      boundedSearch(db, { part, parameter: 'asset_value', ms: 50 }, (on) =>
        sql`select pg_sleep(0.2)`.execute(on),
      )
    try {
      await expect(slow('zz')).rejects.toMatchObject({
        code: 'bad_request',
        message: 'asset_value is too short for so many records',
        details: [{ path: '/asset_value', message: expect.stringContaining('at least 3 letters') }],
      })
      await slow('zzz')
    } finally {
      await db.destroy()
    }
  })
})
