import { beforeEach, describe, expect, test } from '@jest/globals'
import type { FindingContent } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { asSuperuser, testDatabase } from './database.ts'
import { claimAll, ended, findingOf, joined, keyOf, submitted, targets, wipe } from './fixtures.ts'

const FINDING = findingOf()
const DAYS = 30

const db = forAllTests(testDatabase)
beforeEach(async () => {
  await wipe(db.url)
  await sql('truncate vulnerabilities, observations, sightings, scans, scopes cascade')
  await sql('delete from pinned_workflows')
})

const sql = async (text: string): Promise<Record<string, unknown>[]> =>
  asSuperuser(async (client) => (await client.query<Record<string, unknown>>(text)).rows, db.url)

const count = async (from: string): Promise<number> =>
  Number((await sql(`select count(*) as n from ${from}`))[0]?.['n'])

const locksWaited = async (): Promise<boolean> =>
  (await count(`pg_locks where not granted and locktype = 'relation'
    and database = (select oid from pg_database where datname = current_database())`)) > 0

const removeWorkflows = async (limit = 100): Promise<number> =>
  (await db.store.retention.removeWorkflows('', limit)).removed

/** Removes all runs as retention does. */
const pruneRuns = async (): Promise<void> => {
  await db.store.scans.judge({ limit: 100, history: 10 })
  await sql(
    `update runs set created_at = created_at - interval '31 days', completed_at = completed_at - interval '31 days'`,
  )
  const { ids } = await db.store.retention.oldRuns({ days: DAYS, after: 0, limit: 100 })
  await db.store.retention.removeRuns(ids, DAYS)
}

/** Executes a run that imports the given findings. */
const endedRun = async (items: readonly FindingContent[] = []): Promise<void> => {
  await submitted(db.store, {}, targets(1))
  const workerId = await joined(db.runStore)
  const [run] = await claimAll(db.store, db.runStore, workerId)
  if (run === undefined) throw new Error('nothing claimed')
  await db.runStore.importRecords(keyOf(run), {
    step: 's',
    workspace: 'w',
    source: 'workflow',
    records: { kind: 'vulnerability', items },
    errors: 0,
  })
  await db.runStore.finish([ended(run)])
}

describe('pinned workflows', () => {
  test('A pinned workflow is removed after its last job', async () => {
    await endedRun()
    expect(await removeWorkflows()).toBe(0)
    await pruneRuns()
    expect(await removeWorkflows()).toBe(1)
    expect(await count('pinned_workflows')).toBe(0)
    await endedRun()
    expect(await count('pinned_workflows')).toBe(1)
  })

  test('Pinned workflows are checked in pages', async () => {
    await sql(`insert into pinned_workflows (hash, json) select 'h' || n, '{}' from generate_series(1, 5) n`)
    const first = await db.store.retention.removeWorkflows('', 2)
    expect(first).toEqual({ removed: 2, next: 'h2' })
    expect(await db.store.retention.removeWorkflows('h2', 10)).toEqual({ removed: 3, next: undefined })
  })

  test('A pinned workflow stays when a concurrent submit pins it', async () => {
    await endedRun()
    await pruneRuns()
    await asSuperuser(async (client) => {
      await client.query('begin')
      // The first statement of a submit.
      await client.query(`insert into pinned_workflows select * from pinned_workflows on conflict do nothing`)
      const [pinned] = (await client.query<{ hash: string }>('select hash from pinned_workflows')).rows
      const removing = removeWorkflows()
      await until(locksWaited)
      await client.query(
        `insert into jobs (job_id, workflow_name, workflow_kind, workflow_hash, params, priority, run_mode, runner_type,
           runner_given, docker_image, ssh_host, requirement_class, trigger_type, trigger_name, schedule_id,
           event_envelope, starts, target_count)
         values ('0123456789abcdef', 'w', 'module', $1, '{}', 'normal', 'local', 'host', false, '', '', '', 'manual', '',
           '', '', true, 1)`,
        [pinned?.hash],
      )
      await client.query('commit')
      expect(await removing).toBe(0)
    }, db.url)
    expect(await count('pinned_workflows')).toBe(1)
  })

  test('A submit can pin a workflow while it is being removed', async () => {
    await endedRun()
    await pruneRuns()
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query('lock table pinned_workflows in share row exclusive mode')
      const submit = submitted(db.store, {}, targets(1))
      await until(locksWaited)
      await client.query('delete from pinned_workflows')
      await client.query('commit')
      await submit
    }, db.url)
    expect(await count('pinned_workflows')).toBe(1)
  })

  test('Pinned workflows are left for the next call when a submit takes long', async () => {
    await sql(`insert into pinned_workflows (hash, json) values ('h', '{}')`)
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query(`insert into pinned_workflows (hash, json) values ('other', '{}')`)
      expect(await removeWorkflows()).toBe(0)
      await client.query('rollback')
    }, db.url)
    expect(await removeWorkflows()).toBe(1)
  })
})

describe('scopes', () => {
  const removeScopes = async (): Promise<number> => (await db.store.retention.removeScopes(0, 100)).removed

  test('A scope without scans and records is removed', async () => {
    await endedRun()
    expect(await removeScopes()).toBe(0)
    await pruneRuns()
    expect(await removeScopes()).toBe(1)
    expect(await count('scopes')).toBe(0)
  })

  test('A scope in which a record was last seen stays, because a later scan may close the record', async () => {
    await endedRun([FINDING])
    await pruneRuns()
    expect(await removeScopes()).toBe(0)
    const { data } = await db.store.vulnerabilities.list({}, { offset: 0, limit: 10 })
    await db.store.vulnerabilities.remove(data[0]?.id ?? 0)
    expect(await removeScopes()).toBe(1)
  })

  test('A scope stays when a concurrent import uses it', async () => {
    await endedRun()
    await pruneRuns()
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query('select id from scopes')
      const removing = removeScopes()
      await until(locksWaited)
      await client.query(
        `insert into scans (run_id, attempt, scope_id, kind, errors) select 1, 1, id, 'asset', 0 from scopes`,
      )
      await client.query('commit')
      expect(await removing).toBe(0)
    }, db.url)
    expect(await count('scopes')).toBe(1)
  })
})

describe('ranges of steps and events', () => {
  const ranges = async (): Promise<unknown[]> =>
    (
      await sql(`select inhrelid::regclass::text as name from pg_inherits
                 where inhparent in ('steps'::regclass, 'event_logs'::regclass) order by 1`)
    ).map(({ name }) => name)
  const NEWEST = ['event_logs_10000000', 'event_logs_15000000', 'event_logs_rest']
  const STEPS = ['steps_3000000', 'steps_4000000', 'steps_rest']

  test('A range is dropped when it is unused, and never while a run or an event needs it', async () => {
    await submitted(db.store, {}, targets(1))
    await sql(`select setval('runs_id_seq', 1500000), setval('event_logs_id_seq', 6000000)`)
    await db.store.maintain()
    const workerId = await joined(db.runStore)
    const late = await submitted(db.store, {}, targets(1))
    const claimed = await claimAll(db.store, db.runStore, workerId)
    await sql(`select setval('runs_id_seq', 3100000), setval('event_logs_id_seq', 11000000)`)
    await db.store.maintain()
    // The ranges of the two runs and their events stay; the range between them is unused.
    expect(await ranges()).toEqual([
      'event_logs_10000000',
      'event_logs_15000000',
      'event_logs_5000000',
      'event_logs_rest',
      'steps_0',
      'steps_1000000',
      'steps_3000000',
      'steps_4000000',
      'steps_rest',
    ])
    expect(late.runIds).toEqual([1_500_001])
    await db.runStore.finish(claimed.map((run) => ended(run)))
    await pruneRuns()
    await sql('truncate outbox')
    await db.store.maintain()
    expect((await ranges()).slice(-4)).toEqual(['event_logs_rest', ...STEPS])
    expect(await db.store.events.dropRanges(DAYS)).toBe(0)
    await sql(`update event_logs set created_at = now() - interval '31 days'`)
    expect(await db.store.events.dropRanges(DAYS)).toBe(1)
    expect(await ranges()).toEqual([...NEWEST, ...STEPS])
  })

  test('Ranges are left for the next call while another session locks one of them', async () => {
    await sql(`select setval('runs_id_seq', 6100000)`)
    await sql('select keep_all_partitions_ahead()')
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query('lock table steps_3000000 in access exclusive mode')
      await db.store.maintain()
      expect(await ranges()).toContain('steps_4000000')
      await client.query('rollback')
    }, db.url)
    await db.store.maintain()
    expect((await ranges()).slice(-3)).toEqual(['steps_6000000', 'steps_7000000', 'steps_rest'])
  })

  test('Ranges are left for the next call while another session reads them', async () => {
    await sql(`select setval('runs_id_seq', 9100000)`)
    await sql('select keep_all_partitions_ahead()')
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query('select from steps limit 1')
      await db.store.maintain()
      expect(await ranges()).toContain('steps_6000000')
      await client.query('commit')
    }, db.url)
    await db.store.maintain()
    expect((await ranges()).slice(-3)).toEqual(['steps_10000000', 'steps_9000000', 'steps_rest'])
  })
})
