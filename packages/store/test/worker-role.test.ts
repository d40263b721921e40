import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { openRunStore } from '../src/index.ts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import { closedStep, ended, joined, keyOf, submitted, take, targets } from './fixtures.ts'

const LOGIN = `scanfarm_test_worker_${randomBytes(4).toString('hex')}`
let db: TestDatabase
let url: string

beforeAll(async () => {
  db = await testDatabase()
  await asSuperuser((client) =>
    client.query(`create role ${LOGIN} login password 'secret' in role scanfarm_worker`),
  )
  const parsed = new URL(db.url)
  parsed.username = LOGIN
  parsed.password = 'secret'
  url = parsed.href
})
afterAll(async () => {
  await db[Symbol.asyncDispose]()
  await asSuperuser((client) => client.query(`drop role ${LOGIN}`))
})

describe('a login with only the role of workers', () => {
  test('The worker role may call every function that a worker needs', async () => {
    await using runStore = await openRunStore({ url, poolSize: 2, applicationName: 'worker' })
    expect(await runStore.farmId()).toBe(await db.store.farmId())
    const { runIds } = await submitted(db.store, {}, targets(3))
    const local = await submitted(db.store, { runMode: 'local' })
    const workerId = await joined(runStore)
    const claimed = await runStore.claim(workerId, (await take(db.store)).slice(0, 2))
    const [a, b] = claimed.sort((x, y) => x.runId - y.runId)
    if (!a || !b) throw new Error('nothing claimed')
    expect(await runStore.workflow(a.workflowHash)).toBe('{"name":"probe"}')
    expect((await runStore.heartbeat(workerId, 2)).runs).toHaveLength(2)
    expect(await runStore.record([{ ...keyOf(a), totalSteps: 1, steps: [closedStep(1)] }])).toEqual([])
    const unknownRun = '00000000-0000-4000-8000-000000000000'
    expect(await runStore.liveAttempts([a.runUuid, unknownRun])).toEqual([{ runUuid: a.runUuid, attempt: 1 }])
    expect(await runStore.finish([ended(a)])).toEqual([])
    expect(await runStore.liveAttempts([a.runUuid])).toEqual([])
    await runStore.handBack([keyOf(b)])
    expect(await runStore.claimLocal(workerId, 5)).toMatchObject([{ runId: local.runIds[0] }])
    await runStore.leave(workerId)
    expect(await db.store.runs.find(String(runIds[0]))).toMatchObject({ status: 'completed' })
  })

  test('The worker role may do nothing else', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      const tables = await asSuperuser(
        (superuser) =>
          superuser.query<{ name: string }>(
            "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'p')",
          ),
        db.url,
      )
      expect(tables.rows.length).toBeGreaterThan(15)
      for (const { name } of tables.rows) {
        await expect(client.query(`select 1 from ${name}`)).rejects.toThrow('permission denied')
        await expect(client.query(`delete from ${name}`)).rejects.toThrow('permission denied')
      }
      const functions = await asSuperuser(
        (superuser) =>
          superuser.query<{ name: string; schema: string; allowed: boolean }>(
            `select oid::regprocedure::text as name, pronamespace::regnamespace::text as schema,
                    has_function_privilege($1, oid, 'execute') as allowed
             from pg_proc where pronamespace in ('public'::regnamespace, 'worker'::regnamespace)`,
            [LOGIN],
          ),
        db.url,
      )
      expect(functions.rows.filter((row) => row.allowed && row.schema === 'public')).toEqual([])
      expect(functions.rows.filter((row) => !row.allowed && row.schema === 'worker')).toEqual([])
      for (const statement of [
        "select end_runs('[]')",
        "select submit_job('{}', '{}', '{}', null, false, null)",
        "select claim_cloud('worker', 1)",
        'select private_key from cloud_infras',
        'create table mine (x int)',
        'create function worker.mine() returns int language sql as $$ select 1 $$',
        "select grant_worker_role('postgres')",
        'select signing_key from farm',
      ]) {
        await expect(client.query(statement)).rejects.toThrow('permission denied')
      }
    } finally {
      await client.end()
    }
  })

  test('The search path of a session does not change what the functions of workers read', async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    try {
      await client.query(
        "create temp table pinned_workflows as select 'hash-of-probe' as hash, 'bent' as json",
      )
      await client.query('set search_path = pg_temp, public')
      const { rows } = await client.query("select worker.workflow('hash-of-probe') as json")
      expect(rows).toEqual([{ json: '{"name":"probe"}' }])
    } finally {
      await client.end()
    }
  })

  test('Every function of workers sets its search path', async () => {
    const { rows } = await asSuperuser(
      (client) =>
        client.query(
          `select proname from pg_proc where pronamespace = 'worker'::regnamespace
           and (not prosecdef or not 'search_path=pg_catalog, public, pg_temp' = any(coalesce(proconfig, '{}')))`,
        ),
      db.url,
    )
    expect(rows).toEqual([])
  })
})
