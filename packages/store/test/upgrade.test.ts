import { readFile } from 'node:fs/promises'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type pg from 'pg'
import { migrate, openRunStore, openStore, schemaVersion } from '../src/index.ts'
import { asSuperuser, emptyDatabase, type OpenDatabase } from './database.ts'
import { dumpSchema } from './schema-dump.ts'

/** A database of the previous commit that changed the schema; the README of the package describes how it is written. */
const FIXTURE = new URL('fixtures/previous-database/previous.sql.gz', import.meta.url)

let fresh: OpenDatabase
let upgraded: OpenDatabase
const inUpgraded = <T>(work: (client: pg.ClientBase) => Promise<T>): Promise<T> =>
  asSuperuser(work, upgraded.url)

const TABLES = `
  select relname::text as name from pg_class
  where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and not relispartition
    and relname not like 'kysely%' and relname not like 'schema%' order by 1`

/** Columns that the schema files after the fixture add. */
const ADDED: readonly string[] = ['silent', 'ports']

/** Rows as JSON, by table. A schema file that changes rows on purpose adds an exception here. */
const readRows = (): Promise<Record<string, string[]>> =>
  inUpgraded(async (client) => {
    const { rows: tables } = await client.query<{ name: string }>(TABLES)
    const found: Record<string, string[]> = {}
    for (const { name } of tables) {
      const { rows } = await client.query<{ json: string }>(
        `select (to_jsonb(t) - $1::text[])::text as json from ${name} t order by 1`,
        [ADDED],
      )
      found[name] = rows.map(({ json }) => json)
    }
    return found
  })

const SIGNATURES = `
  select array_agg(p.oid::regprocedure || ' ' || pg_get_function_result(p.oid) order by 1) as list from pg_proc p
  where p.pronamespace in ('public'::regnamespace, 'worker'::regnamespace)`
const readSignatures = async (client: pg.ClientBase): Promise<string[]> =>
  (await client.query<{ list: string[] }>(SIGNATURES)).rows[0]?.list ?? []

let rowsBefore: Record<string, string[]>
let signaturesBefore: string[]
let versionBefore: unknown
beforeAll(async () => {
  ;[fresh, upgraded] = await Promise.all([emptyDatabase(), emptyDatabase()])
  const fixture = gunzipSync(await readFile(FIXTURE)).toString()
  await inUpgraded((client) => client.query(fixture))
  rowsBefore = await readRows()
  signaturesBefore = await inUpgraded(readSignatures)
})
afterAll(() => Promise.all([fresh[Symbol.asyncDispose](), upgraded[Symbol.asyncDispose]()]))

test('The fixture has rows in every table', () => {
  const empty = Object.keys(rowsBefore).filter((table) => rowsBefore[table]?.length === 0)
  expect(empty).toEqual([])
})

test('A database of the previous commit is refused until it is upgraded', async () => {
  await using store = await openStore({ url: upgraded.url, poolSize: 1, applicationName: 'test' })
  await using worker = await openRunStore({ url: upgraded.url, poolSize: 1, applicationName: 'test' })
  const error: unknown = await store.check().catch((reason: unknown) => reason)
  versionBefore = Error.isError(error) && 'found' in error ? error.found : schemaVersion
  if (versionBefore === schemaVersion) return
  const message = `the database schema is ${String(versionBefore)}, this program needs ${schemaVersion}: start a server`
  await expect(store.check()).rejects.toThrow(message)
  await expect(worker.farmId()).rejects.toThrow(message)
})

test('An upgraded database has the schema of a new one, and all its rows', async () => {
  const applied = await Promise.all([migrate(upgraded), migrate(upgraded), migrate(fresh)])
  expect(applied[2].applied.at(-1)).toBe(schemaVersion)
  expect(await inUpgraded(dumpSchema)).toBe(await asSuperuser(dumpSchema, fresh.url))
  const rows = await readRows()
  for (const table of Object.keys(rowsBefore))
    expect({ table, rows: rows[table] }).toEqual({ table, rows: rowsBefore[table] })
})

test('An upgraded database can be used', async () => {
  await using store = await openStore({ url: upgraded.url, poolSize: 2, applicationName: 'test' })
  await using worker = await openRunStore({ url: upgraded.url, poolSize: 1, applicationName: 'test' })
  await store.check()
  expect(await worker.farmId()).toBe(await store.farmId())
  const { data } = await store.runs.list({ status: 'running' }, { offset: 0, limit: 10 })
  expect((await store.runs.steps(String(data.at(-1)?.id)))?.data[0]?.output).toBe('naïve "output"')
  expect((await store.vulnerabilities.find(1))?.raw_vuln_json).toBe('{"id":1}')
})

test('Signatures of functions change only with a new schema file, which older programs refuse', async () => {
  const changed = JSON.stringify(await inUpgraded(readSignatures)) !== JSON.stringify(signaturesBefore)
  if (changed) expect(versionBefore).not.toBe(schemaVersion)
})
