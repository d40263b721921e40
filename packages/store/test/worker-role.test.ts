import { randomBytes } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { openRunStore } from '../src/index.ts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import { claimAll, closedStep, ended, joined, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

const LOGIN = `scanfarm_test_worker_${randomBytes(4).toString('hex')}`
const SECRET = 'a secret of a worker that joins by hand'
const RAW_WORKER = {
  id: 'by-hand',
  name: 'worker',
  hostname: 'host',
  pid: 1,
  version: '1.0.0',
  kind: 'worker',
  slots: 1,
  capabilities: [],
  lease_ms: 60_000,
}

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
    expect(await runStore.boundary(keyOf(b))).toEqual({ scopes: [], neverScan: [], limited: [] })
    expect(await runStore.takeLimits(keyOf(b), [])).toEqual({ rate: null })
    for (const until of ['share', new Date()] as const) await runStore.handBack([keyOf(b)], until)
    await expect(runStore.boundary(keyOf(b))).rejects.toThrow('the run belongs to another worker')
    await runStore.handBack([keyOf(b)])
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
        "select claim_cloud('secret', 'worker', 1)",
        "select claim_local('secret', 'worker', 1)",
        "select join_farm('secret', '{}')",
        'select secret_hash from workers',
        'select name from locks for update',
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
      await client.query('select worker.join($1, $2)', [SECRET, JSON.stringify(RAW_WORKER)])
      await client.query(
        "create temp table pinned_workflows as select 'hash-of-probe' as hash, 'bent' as json",
      )
      await client.query('set search_path = pg_temp, public')
      const { rows } = await client.query("select worker.workflow($1, 'hash-of-probe') as json", [SECRET])
      expect(rows).toEqual([{ json: '{"name":"probe"}' }])
    } finally {
      await client.end()
    }
  })

  test('Every function of workers sets its search path', async () => {
    const { rows } = await db.sql(
      `select proname from pg_proc where pronamespace = 'worker'::regnamespace
           and (not prosecdef or not 'search_path=pg_catalog, public, pg_temp' = any(coalesce(proconfig, '{}')))`,
    )
    expect(rows).toEqual([])
  })
})

describe('a process with the login of workers but another secret', () => {
  let attacker: pg.Client
  beforeEach(async () => {
    await wipe(db.url)
    attacker = new pg.Client({ connectionString: url })
    await attacker.connect()
    await attacker.query('select worker.join($1, $2)', [SECRET, JSON.stringify(RAW_WORKER)])
  })
  afterEach(() => attacker.end())

  const answerOf = async (call: string, values: readonly unknown[] = []): Promise<unknown> => {
    const { rows } = await attacker.query<{ answer: unknown }>(`select ${call} as answer`, [
      SECRET,
      ...values,
    ])
    return rows[0]?.answer
  }

  const runningRun = async () => {
    await submitted(db.store, {}, targets(1))
    const workerId = await joined(db.runStore)
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (!run) throw new Error('nothing claimed')
    return { workerId, run, keys: JSON.stringify([keyOf(run)]) }
  }

  test('It cannot end, hand back or write the runs of another process', async () => {
    const { run, keys } = await runningRun()
    const ends = JSON.stringify([{ ...keyOf(run), status: 'failed', errorMessage: '', killedPids: [] }])
    expect(await answerOf('worker.finish($1, $2, $3)', [keys, ends])).toEqual([keyOf(run)])
    expect(await answerOf('worker.record($1, $2)', [keys])).toEqual([keyOf(run)])
    await answerOf('worker.hand_back($1, $2)', [keys])
    await answerOf('worker.wait_until($1, $2, now())', [keys])
    expect(await db.store.runs.find(String(run.runId))).toMatchObject({ status: 'running' })
    const asked = [run.runId, run.attempt]
    expect(await answerOf('worker.boundary($1, $2, $3)', asked)).toBeNull()
    expect(await answerOf("worker.records($1, $2, $3, 'asset', 'host-0.test', '{}', 1)", asked)).toBeNull()
    expect(await answerOf("worker.runs_of($1, $2, $3, 'host-0.test', '', 1)", asked)).toBeNull()
    expect(await answerOf('worker.report($1, $2, $3)', asked)).toBeNull()
    expect(await answerOf("worker.known_folder($1, $2, $3, 'host-0.test', '[]')", asked)).toBeNull()
    expect(await answerOf("worker.add_to_counter($1, $2, $3, 'host-0.test', 'n', 1)", asked)).toBeNull()
    expect(
      await answerOf("worker.import_records($1, $2, $3, 's', 'asset', 'host-0.test', '', '[]', 0)", asked),
    ).toBeNull()
  })

  test('It cannot act as another worker, even if it knows its id, or join as that one', async () => {
    const { workerId, run } = await runningRun()
    await db.runStore.offer(workerId, ['docker'])
    await answerOf('worker.leave($1, $2)', [workerId])
    await answerOf('worker.offer($1, $2, $3)', [workerId, []])
    await answerOf('worker.report_tools($1, $2, $3)', [workerId, '[]'])
    expect(await answerOf('worker.heartbeat($1, $2, 0, true)', [workerId])).toMatchObject({ known: false })
    expect(await answerOf('worker.claim($1, $2, $3, $4)', [workerId, [run.runId], [0]])).toBeNull()
    await expect(
      attacker.query('select worker.join($1, $2)', [SECRET, JSON.stringify({ ...RAW_WORKER, id: workerId })]),
    ).rejects.toThrow('a worker with this id has joined with another secret')
    const { data } = await db.store.workers.list()
    expect(data.find(({ id }) => id === workerId)).toMatchObject({ busy_slots: 1, capabilities: ['docker'] })
    expect(await db.store.runs.find(String(run.runId))).toMatchObject({ status: 'running' })
  })

  test('It cannot join as slots of a master, or take the runs of these', async () => {
    const slots = { ...RAW_WORKER, id: 'slots', kind: 'server' }
    await attacker.query('select worker.join($1, $2)', [SECRET, JSON.stringify(slots)])
    const { data } = await db.store.workers.list()
    expect(data.find(({ id }) => id === 'slots')).toMatchObject({ kind: 'worker' })
    const { runIds } = await submitted(db.store, { runMode: 'local' })
    expect(await answerOf("worker.claim($1, 'slots', $2, '{0}')", [runIds])).toEqual([])
    await answerOf("worker.defer_run($1, 'slots', $2, 0, 'no reason')", runIds)
    expect(await db.store.runs.find(String(runIds[0]))).toMatchObject({ status: 'queued' })
  })

  test('It cannot read without having joined, and needs a secret that cannot be guessed', async () => {
    for (const call of [
      "worker.workflow('unknown', 'hash-of-probe')",
      "worker.live_attempts('unknown', '{}')",
      "worker.removable_workspaces('unknown', '{}', '{}', 1)",
      "worker.stray_keys(null, '{}', '{}', '{}')",
    ])
      await expect(attacker.query(`select ${call}`)).rejects.toThrow('no worker has joined the farm')
    for (const secret of [null, '', 'short'])
      await expect(
        attacker.query('select worker.join($1, $2)', [secret, JSON.stringify({ ...RAW_WORKER, id: 'weak' })]),
      ).rejects.toThrow('a secret of at least 32 characters')
  })

  test('A run of its own reads findings and runs of its workspace only', async () => {
    const { runIds } = await submitted(db.store, {}, targets(2))
    const [mine, other] = runIds
    await take(db.store)
    await answerOf("worker.claim($1, 'by-hand', $2, '{0}')", [[mine]])
    const assets = (workspace: string) =>
      answerOf("worker.records($1, $2, 1, 'asset', $3, '{}', 1)", [mine, workspace])
    expect(await assets('host-0.test')).toEqual([])
    await expect(assets('host-1.test')).rejects.toThrow(
      'a run reads records of its own workspace only, which is host-0.test, not host-1.test',
    )
    const found = await db.store.runs.find(String(other))
    const runs = (workspace: string, uuid: string | undefined) =>
      answerOf('worker.runs_of($1, $2, 1, $3, $4, 9)', [mine, workspace, uuid])
    expect(await runs('', found?.run_uuid)).toEqual([])
    expect(await answerOf('worker.report($1, $2, 1)', [mine])).toMatchObject({
      workspaces: ['host-0.test'],
      run_count: 1,
    })
    expect(await runs('host-0.test', '')).toMatchObject([{ id: mine }])
    await expect(runs('host-1.test', '')).rejects.toThrow('a run reads records of its own workspace only')
  })

  test('Events of its runs have no source of events that the farm writes', async () => {
    const { runIds } = await submitted(db.store, {}, targets(1))
    await take(db.store)
    await answerOf("worker.claim($1, 'by-hand', $2, '{0}')", [runIds])
    const sources = ['executor', 'scheduler', 'api', 'nuclei']
    const events = sources.map((source) => ({
      topic: `forged.${source}`,
      eventId: `evt_${source}`,
      name: 'forged',
      source,
      dataType: 'custom',
      data: '{}',
    }))
    const updates = JSON.stringify([{ runId: runIds[0], attempt: 1, events }])
    expect(await answerOf('worker.record($1, $2)', [updates])).toEqual([])
    const { data } = await db.store.events.list({}, { offset: 0, limit: 100 })
    const forged = data.filter(({ topic }) => topic.startsWith('forged.'))
    expect(Object.fromEntries(forged.map(({ topic, source }) => [topic, source]))).toEqual({
      'forged.executor': 'workflow',
      'forged.scheduler': 'workflow',
      'forged.api': 'workflow',
      'forged.nuclei': 'nuclei',
    })
  })

  test('Advisory locks of every kind do not stop the loops of a master', async () => {
    const { workerId, run } = await runningRun()
    await db.sql(`update farm set reaper_turn_at = now(), reaper_hold_until = now(), mass_expiry_since = null;
           update workers set lease_until = now() - interval '1 h' where id = '${workerId}'`)
    // All names that masters locked this way, and every key that a session of a master holds now.
    await attacker.query(
      `select pg_advisory_lock(hashtext('scanfarm ' || name)) from unnest($1::text[]) name`,
      ['reaper series|settle jobs|judge of scans|partitions|retention|cloud claim|migration'.split('|')],
    )
    await attacker.query(`select pg_advisory_lock(objid::bigint) from pg_locks where locktype = 'advisory'`)
    const limits = { maxAttempts: 3, quarantineAfter: 2, leaseMs: 1_000, limit: 10 }
    expect(await db.store.recovery.reapOnce(limits)).toMatchObject({ requeued: 1 })
    expect(await db.store.runs.find(String(run.runId))).toMatchObject({ status: 'queued' })
    await db.store.maintain()
    const { rows } = await db.sql(
      `select oid::regprocedure::text as name from pg_proc
           where pronamespace in ('public'::regnamespace, 'worker'::regnamespace) and prosrc like '%advisory%'`,
    )
    expect(rows).toEqual([])
  })
})
