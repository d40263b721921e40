import { beforeEach, describe, expect, test } from '@jest/globals'
import type pg from 'pg'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { asSuperuser, connectSuperuser, openTransactionsEnded, testDatabase } from './database.ts'
import { cloudJob } from './cloud-fixtures.ts'
import { assetOf, claimAll, ended, findingOf, joined, submitted, targets, wipe } from './fixtures.ts'

/** Other runs that wait or run while a small batch is handled. */
const CROWD = 2_000
const BATCH = 5
/** Rows of `runs` that one statement of a batch may read: a few times its own. */
const REACH = 20 * BATCH

const db = forAllTests(() => testDatabase())
beforeEach(() => wipe(db.url))

/** The secret with which the calls of these tests are made. */
const SECRET = 'a secret of a worker of these tests'

/** In a session that has read nothing and keeps no plan. */
const inNewSession = async <T>(work: (client: pg.Client) => Promise<T>): Promise<T> => {
  await using client = await connectSuperuser(db.url)
  return await work(client)
}

/** Rows of a table that a call reads, in a transaction that is rolled back. */
const rowsRead = (call: string, values: readonly unknown[], table = 'runs'): Promise<number> =>
  inNewSession(async (client) => {
    await client.query('begin')
    await client.query('update workers set secret_hash = secret_hash($1)', [SECRET])
    await client.query(call, [...values])
    const { rows } = await client.query<{ read: string }>(
      `select idx_tup_fetch + seq_tup_read as read from pg_stat_xact_user_tables where relname = $1`,
      [table],
    )
    await client.query('rollback')
    return Number(rows[0]?.read)
  })

/** The statistics are those of a farm in its first minute: of an empty table. */
describe('rows read with old statistics', () => {
  test('A claim reads the runs of its messages, however many others wait', async () => {
    const workerId = await joined(db.runStore)
    const { runIds } = await submitted(db.store, {}, targets(CROWD))
    const tickets = [runIds.slice(-BATCH), runIds.slice(-BATCH).map(() => 0)]
    const read = await rowsRead('select worker.claim($1, $2, $3, $4)', [SECRET, workerId, ...tickets])
    expect(read).toBeLessThan(REACH)
  })

  test('A submit of runs that it may send reads few others that wait, whatever their priority', async () => {
    await submitted(db.store, {}, targets(CROWD))
    for (const priority of ['low', 'normal', 'high'] as const) {
      const { jobId } = await submitted(db.store, { priority }, targets(1))
      const fill = `select fill_outbox(j, '{}', null, 2000) from jobs j where job_id = $1`
      expect(await rowsRead(fill, [jobId], 'outbox')).toBeLessThan(REACH)
    }
  })

  test('A local claim reads the runs that it takes, however many distributed runs wait', async () => {
    const workerId = await joined(db.runStore)
    await submitted(db.store, {}, targets(CROWD))
    await submitted(db.store, { runMode: 'local' }, targets(BATCH, 'local'))
    expect(await rowsRead('select claim_local($1, $2, $3)', [SECRET, workerId, BATCH])).toBeLessThan(REACH)
  })

  test('A cloud claim reads the runs that it takes, however many others wait for their machines', async () => {
    const workerId = await joined(db.store.runStore, { kind: 'server' })
    await submitted(db.store, {}, targets(CROWD))
    await cloudJob(db.store, { runs: CROWD, infra: { instances: BATCH } })
    expect(await rowsRead('select claim_cloud($1, $2, $3)', [SECRET, workerId, 100])).toBeLessThan(REACH)
    const held = await db.store.runStore.claimCloud(workerId, 100)
    expect(held).toHaveLength(BATCH)
    expect(await rowsRead('select claim_cloud($1, $2, $3)', [SECRET, workerId, 100])).toBeLessThan(REACH)
    const keys = held.map(({ runId, attempt }) => ({ runId, attempt }))
    const ends = keys.map((key) => ({ ...key, status: 'completed', errorMessage: '', killedPids: [] }))
    const finish = await rowsRead('select worker.finish($1, $2, $3)', [
      SECRET,
      JSON.stringify(keys),
      JSON.stringify(ends),
    ])
    expect(finish).toBeLessThan(REACH)
  })

  test('A record and a hand-back read their own runs, however many others are running', async () => {
    const workerId = await joined(db.runStore, { slots: CROWD })
    await submitted(db.store, {}, targets(CROWD))
    const runs = await claimAll(db.store, db.runStore, workerId)
    expect(runs).toHaveLength(CROWD)
    const few = runs.slice(0, BATCH).map(({ runId, attempt }) => ({ runId, attempt }))
    const updates = few.map((key) => ({ ...key, completedSteps: 0, totalSteps: 1 }))
    expect(await rowsRead('select worker.record($1, $2)', [SECRET, JSON.stringify(updates)])).toBeLessThan(
      REACH,
    )
    expect(await rowsRead('select worker.hand_back($1, $2)', [SECRET, JSON.stringify(few)])).toBeLessThan(
      REACH,
    )
    const ends = few.map((key) => ({ ...key, status: 'completed', errorMessage: '', killedPids: [] }))
    const finish = await rowsRead('select worker.finish($1, $2, $3)', [
      SECRET,
      JSON.stringify(updates),
      JSON.stringify(ends),
    ])
    expect(finish).toBeLessThan(REACH)
  })

  test('The count of the final states of a job reads one open run of it, however many others have ended', async () => {
    const workerId = await joined(db.runStore, { slots: CROWD })
    await submitted(db.store, {}, targets(CROWD))
    const runs = await claimAll(db.store, db.runStore, workerId)
    const ended = runs.filter(({ runId }) => runId !== runs[CROWD / 2]?.runId)
    const ends = ended.map(({ runId, attempt }) => ({
      runId,
      attempt,
      status: 'completed' as const,
      errorMessage: '',
      killedPids: [],
      last: { runId, attempt },
    }))
    await db.runStore.finish(ends)
    const settle = ['select * from settle_jobs($1, $2)', [0, 10]] as const
    expect(await db.store.jobs.settle(0, 10)).toMatchObject({ counted: 0 })
    expect(await rowsRead(...settle)).toBeLessThan(REACH)
    const [straggler] = runs.filter((run) => !ended.includes(run))
    if (straggler === undefined) throw new Error('a run was to be open')
    const { runId, attempt } = straggler
    await db.runStore.finish([{ ...ends[0], runId, attempt, last: { runId, attempt } } as (typeof ends)[0]])
    expect(await db.store.jobs.settle(0, 10)).toMatchObject({ counted: 1 })
  })

  test('A master reads the events that it counts, however many others wait for being counted', async () => {
    const insert = `
      insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                              processed, processed_at)
      select 'run.completed', 'evt_' || n, 'run.completed', 'executor', 'scan', '{}', '', '', '', true, now()
      from generate_series(1, $1) as n`
    await asSuperuser(async (client) => {
      await client.query(insert, [BATCH])
      await client.query('analyze event_logs_0')
      await client.query(insert, [CROWD])
    }, db.url)
    await openTransactionsEnded(db.url)
    const count = 'select count_events($1) as counted'
    expect(await rowsRead(count, [CROWD / 4], 'event_logs_0')).toBe(CROWD / 4)
    const { rows } = await db.sql(count, [CROWD / 4])
    expect(rows).toEqual([{ counted: CROWD / 4 }])
  })

  const importCrowd = () =>
    asSuperuser(async (client) => {
      await client.query('analyze vulnerabilities')
      await client.query(
        `select import_vulnerabilities('crowd', (select jsonb_agg(jsonb_build_object('vuln_info', 'check',
           'vuln_title', '', 'vuln_desc', '', 'vuln_poc', '', 'severity', 'low', 'confidence', 'Firm', 'asset_type', 'web',
           'asset_value', 'http://a.example/' || n, 'detail_http_request', '', 'detail_http_response', '',
           'raw_vuln_json', '')) from generate_series(1, $1) n), 'test', null, null, null, null)`,
        [CROWD],
      )
    }, db.url)

  test('The search for acceptances that ended reads no finding without one, however many there are', async () => {
    await importCrowd()
    expect(await rowsRead('select expire_verdicts($1)', [BATCH], 'vulnerabilities')).toBe(0)
  })

  test('A change of many findings reads the history of each, however short all of them were', async () => {
    await importCrowd()
    await asSuperuser(async (client) => {
      await client.query(
        `update vulnerabilities set ticket = 'T-1' where id = (select min(id) from vulnerabilities)`,
      )
      await client.query('analyze finding_changes')
    }, db.url)
    const read = await rowsRead(`update vulnerabilities set ticket = 'T-2'`, [], 'finding_changes')
    expect(read).toBeLessThan(4 * CROWD)
  })

  test('The changes of a night ask once when it ended, however many findings changed since', async () => {
    const workerId = await joined(db.runStore)
    await submitted(db.store, {}, [{ target: 'a.example', workspace: 'night' }])
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (run === undefined) throw new Error('a run was to be claimed')
    const items = Array.from({ length: CROWD }, (_, n) => findingOf({ vuln_info: `check-${n}` }))
    const records = { kind: 'vulnerability', items } as const
    const step = { step: 'import', workspace: 'night', source: 'test', errors: 0 }
    await db.runStore.importRecords(run, { ...step, records })
    await db.runStore.finish([ended(run)])
    await db.store.jobs.settle(0, 10)
    await asSuperuser(async (client) => {
      await client.query(`update vulnerabilities set severity = 'low' where workspace = 'night'`)
      await client.query('analyze vulnerabilities, finding_changes')
    }, db.url)
    const call = `select job_changes(array(select job_no from runs where id = $1), array['night'], null, 10)`
    expect(await rowsRead(call, [run.runId], 'jobs')).toBeLessThan(REACH)
    expect(await rowsRead(call, [run.runId], 'finding_changes')).toBeLessThan(4 * CROWD)
  })

  test('The dispatcher reads the outbox rows that it sends and removes, however many others wait', async () => {
    const { runIds: ended } = await submitted(db.store, {}, targets(CROWD))
    await asSuperuser(async (client) => {
      await client.query('delete from outbox where run_id = any($1)', [ended])
      // Statistics of a table that is empty but has pages, like between two jobs.
      await client.query('analyze outbox')
    }, db.url)
    const { runIds } = await submitted(db.store, {}, targets(CROWD, 'next'))
    const take = [
      'select * from take_outbox($1, $2, $3, $4)',
      [[''], Array(4).fill(CROWD), BATCH, 10_000],
    ] as const
    expect(await rowsRead(...take, 'outbox')).toBeLessThan(REACH)
    const few = runIds.slice(-BATCH)
    const removed = await rowsRead('select remove_outbox($1, $2)', [few, few.map(() => 0)], 'outbox')
    expect(removed).toBeLessThan(REACH)
  })
})

describe('imports whose plans are from the time when there was nothing', () => {
  const CONTENTS = `array(select decode(i ->> 'content', 'hex') from jsonb_array_elements($1::jsonb) i)`
  const numbered = <T>(count: number, item: (n: number) => T): T[] =>
    Array.from({ length: count }, (_, n) => item(n))

  /** Rows of a table that the last imports of a session read: first many small ones, then one large, then one small again. */
  const rowsReadByLast = (table: string, call: string, itemOf: (n: number) => object): Promise<number> =>
    inNewSession(async (client) => {
      const imported = async (from: number, count: number): Promise<number> => {
        const items = JSON.stringify(numbered(count, (n) => itemOf(from + n)))
        // The second time, nothing changes.
        for (let turn = 0; turn < 2; turn += 1) await client.query(call, [items])
        const { rows } = await client.query<{ read: string }>(
          `select idx_tup_fetch + seq_tup_read as read from pg_stat_xact_user_tables where relname = $1`,
          [table],
        )
        return Number(rows[0]?.read)
      }
      await client.query('begin')
      // A session keeps a plan after five executions.
      for (let round = 0; round < 8; round += 1) await imported(round * BATCH, BATCH)
      const before = await imported(CROWD, CROWD)
      const after = await imported(3 * CROWD, BATCH)
      await client.query('rollback')
      return after - before
    })

  test('findings', async () => {
    const call = `select coalesce(
      see_known_findings(${CONTENTS}, array(select 1 from jsonb_array_elements($1::jsonb)), null, null),
      import_vulnerabilities('plans', $1::jsonb, 'test', null, null, null, null))`
    const read = await rowsReadByLast('vulnerabilities', call, (n) => ({
      vuln_info: 'check',
      vuln_title: 'Title',
      vuln_desc: '',
      vuln_poc: '',
      severity: 'low',
      confidence: 'Firm',
      asset_type: 'web',
      asset_value: `http://a.example/${n}`,
      tags: [],
      detail_http_request: '',
      detail_http_response: '',
      raw_vuln_json: '',
      content: n.toString(16).padStart(64, '0'),
    }))
    expect(read).toBeLessThan(REACH)
  })

  test('assets', async () => {
    const call = `select coalesce(see_known_assets(${CONTENTS}), import_assets('plans', $1::jsonb, 'test', null, null))`
    const read = await rowsReadByLast('assets', call, (n) => ({
      ...assetOf({ asset_type: 'host', asset_value: `a${n}.example` }),
      content: n.toString(16).padStart(64, '0'),
    }))
    expect(read).toBeLessThan(REACH)
  })
})
