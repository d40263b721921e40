import { beforeEach, describe, expect, test } from '@jest/globals'
import { ENFORCED } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openStore } from '../src/index.ts'
import type { PageRequest } from '../src/page.ts'
import type { RunFilter, RunSort } from '../src/runs/run-list.ts'
import { asSuperuser, testDatabase } from './database.ts'
import { claimAll, ended, joined, submitted, targets, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => wipe(db.url))
const list = (filter: RunFilter = {}, page: Partial<PageRequest> = {}) =>
  db.store.runs.list(filter, { offset: 0, limit: 20, ...page })
const idsOf = async (filter: RunFilter, page?: Partial<PageRequest>) =>
  (await list(filter, page)).data.map((run) => run.id)

describe('the list of runs', () => {
  test('Runs are listed by every filter, alone and in combination, newest first, with exact totals', async () => {
    const a = await submitted(db.store, { workflowName: 'a' }, targets(4, 'x'))
    const b = await submitted(db.store, { workflowName: 'b', runMode: 'local' }, targets(3, 'x'))
    const pending = await submitted(db.store, { workflowName: 'b' }, targets(2, 'y'), { start: false })
    const workerId = await joined(db.runStore)
    const [one, two] = await claimAll(db.store, db.runStore, workerId)
    if (!one || !two) throw new Error('nothing claimed')
    await db.runStore.finish([ended(one, 'completed'), ended(two, 'failed')])

    const newest = (ids: number[]) => ids.toReversed()
    expect(await idsOf({})).toEqual(newest([...a.runIds, ...b.runIds, ...pending.runIds]))
    expect(await idsOf({ status: 'completed' })).toEqual([one.runId])
    expect(await idsOf({ status: 'failed' })).toEqual([two.runId])
    expect(await idsOf({ status: 'running' })).toEqual(newest(a.runIds.slice(2)))
    expect(await idsOf({ status: 'queued' })).toEqual(newest(b.runIds))
    expect(await idsOf({ status: 'pending' })).toEqual(newest([...b.runIds, ...pending.runIds]))
    expect(await idsOf({ status: 'cancelled' })).toEqual([])
    expect(await idsOf({ workflowName: 'b' })).toEqual(newest([...b.runIds, ...pending.runIds]))
    expect(await idsOf({ workflowName: 'b', status: 'queued' })).toEqual(newest(b.runIds))
    expect(await idsOf({ target: 'x-1.test' })).toEqual(newest([a.runIds[1] ?? 0, b.runIds[1] ?? 0]))
    expect(await idsOf({ target: 'x-1.test', workflowName: 'a', status: 'failed' })).toEqual([two.runId])
    expect(await idsOf({ workspace: 'y-0.test' })).toEqual([pending.runIds[0]])
    expect(await idsOf({ runMode: 'local' })).toEqual(newest(b.runIds))
    expect(await idsOf({ jobId: a.jobId })).toEqual(newest(a.runIds))
    expect(await idsOf({ jobId: a.jobId, status: 'running' })).toEqual(newest(a.runIds.slice(2)))
    for (const nothing of [
      { target: 'x-1' },
      { target: 'x\0' },
      { jobId: '\0' },
      { workflowName: "' or 1=1 --" },
    ]) {
      expect(await list(nothing)).toEqual({ data: [], total: 0, nextCursor: undefined, truncated: false })
    }
    expect((await list({ status: 'pending' }, { limit: 1 })).total).toBe(5)
    expect((await list({ workflowName: 'b' }, { limit: 1 })).total).toBe(5)
  })

  test('Runs are sorted by a column, in pages and in reverse', async () => {
    const { runIds } = await submitted(db.store, { workflowName: 'b' }, targets(3, 'x'))
    const [other = 0] = (await submitted(db.store, { workflowName: 'a' }, targets(1, 'y'))).runIds
    const workerId = await joined(db.runStore)
    const [first] = await claimAll(db.store, db.runStore, workerId)
    if (first === undefined) throw new Error('nothing claimed')
    await db.runStore.finish([ended(first, 'failed')])
    const sorted = async (sort: RunSort | `-${RunSort}`): Promise<number[]> => {
      const found: number[] = []
      for (let cursor: string | undefined; ;) {
        const page = await db.store.runs.list({}, { offset: 0, limit: 2, sort, ...(cursor && { cursor }) })
        expect(page.total).toBe(4)
        found.push(...page.data.map(({ id }) => id))
        cursor = page.nextCursor
        if (cursor === undefined) return found
      }
    }
    expect(await sorted('created')).toEqual([...runIds, other])
    expect(await sorted('target')).toEqual([...runIds, other])
    expect(await sorted('-target')).toEqual([other, ...runIds.toReversed()])
    expect(await sorted('workflow')).toEqual([other, ...runIds.toReversed()])
    expect((await sorted('status'))[0]).toBe(first.runId)
    expect((await sorted('-took'))[0]).toBe(first.runId)
    expect((await sorted('-outcome'))[0]).toBe(first.runId)
    await expect(db.store.runs.list({}, { offset: 0, limit: 2, sort: 'took', cursor: 'b1' })).rejects.toThrow(
      'the cursor is invalid',
    )
  })

  test('Pages by offset and by cursor have the same runs, each of them once', async () => {
    await submitted(db.store, {}, targets(55))
    for (const filter of [{}, { status: 'pending' as const }, { workflowName: 'probe' }]) {
      const byOffset = [0, 20, 40].map((offset) => idsOf(filter, { offset }))
      const byCursor: number[] = []
      for (let cursor: string | undefined, first = true; first || cursor; first = false) {
        const page = await list(filter, { cursor, offset: 7 * Number(!first) })
        byCursor.push(...page.data.map((run) => run.id))
        cursor = page.nextCursor
        expect(page.total).toBe(55)
      }
      expect(byCursor).toEqual((await Promise.all(byOffset)).flat())
      expect(new Set(byCursor).size).toBe(55)
    }
    expect(await idsOf({}, { offset: 1_000_000 })).toEqual([])
  })

  test.each(['', 'x', 'YQ', '%', "b1' or 1=1", Buffer.from('b-1').toString('base64url')])(
    'The cursor %j is refused',
    async (cursor) => {
      await expect(list({}, { cursor })).rejects.toMatchObject({ code: 'bad_request', status: 400 })
    },
  )

  test('A queued run has the reason for its wait, and no other run has one', async () => {
    const reasonOf = async (target: string) => (await list({ target })).data[0]?.waiting_reason
    await submitted(db.store, { requirementClass: 'docker tool:nmap' }, targets(1, 'plain'))
    expect(await reasonOf('plain-0.test')).toBe('no live worker')
    await submitted(db.store, { runMode: 'local' }, targets(1, 'early'))
    await joined(db.runStore, { capabilities: ['cloud'], kind: 'server' })
    expect(await reasonOf('early-0.test')).toBe('no live server has local slots')
    await joined(db.runStore, { capabilities: ['docker'] })
    const gone = await joined(db.runStore, { capabilities: ['docker', 'tool:nmap'] })
    await db.sql(`update workers set lease_until = now() - interval '1 s' where id = '${gone}'`)
    await joined(db.runStore, { capabilities: ['docker', 'tool:nmap'], kind: 'server' })
    expect(await reasonOf('plain-0.test')).toBe('no live worker offers: tool:nmap')
    await joined(db.runStore, { capabilities: ['tool:nmap'] })
    expect(await reasonOf('plain-0.test')).toBe('no live worker offers all of: docker tool:nmap')
    await submitted(db.store, { requirementClass: ENFORCED }, targets(1, 'fenced'))
    const bare = await joined(db.runStore, { enforcementGap: 'the worker must run as root' })
    const gap = 'no live worker offers: scope:enforced (the worker must run as root)'
    expect(await reasonOf('fenced-0.test')).toBe(gap)
    expect(await db.store.workers.find(bare)).toMatchObject({
      enforcement_gap: 'the worker must run as root',
    })
    await joined(db.runStore, { capabilities: [ENFORCED], enforcementGap: '' })
    expect(await reasonOf('fenced-0.test')).toBe('waiting for a worker')
    await db.runStore.heartbeat(gone, 0)
    expect(await reasonOf('plain-0.test')).toBe('waiting for a worker')

    await submitted(db.store, { concurrency: 1 }, targets(2, 'slot'))
    expect(await reasonOf('slot-0.test')).toBe('waiting for a worker')
    expect(await reasonOf('slot-1.test')).toBe('waiting for one of the 1 slots of its job')
    await submitted(db.store, { runMode: 'local' }, targets(1, 'local'))
    expect(await reasonOf('local-0.test')).toBe('waiting for a local slot')
    await submitted(db.store, {}, targets(1, 'pending'), { start: false })
    expect(await reasonOf('pending-0.test')).toBe('')
  })

  test('Each filter reads its pages from an index', async () => {
    await submitted(db.store, {}, targets(3_000))
    await db.sql('analyze runs')
    const plans = await asSuperuser(async (client) => {
      await client.query('set enable_seqscan = off')
      const found: string[] = []
      for (const condition of [
        "status = 'queued'",
        "workflow_name = 'probe' and status = 'queued'",
        "target = 'host-1.test'",
        "workspace = 'host-1.test'",
        "run_mode = 'distributed'",
        'job_no = 1',
      ]) {
        const { rows } = await client.query<{ 'QUERY PLAN': string }>(
          `explain select id from runs where ${condition} order by id desc limit 20`,
        )
        found.push(rows.map((row) => row['QUERY PLAN']).join('\n'))
      }
      return found
    }, db.url)
    for (const plan of plans) expect(plan).toMatch(/Index (Only )?Scan/)
  })
})

describe('timestamps', () => {
  test.each(['UTC', 'Asia/Kolkata', 'America/New_York'])(
    'Timestamps are in UTC in a session whose time zone is %s',
    async (zone) => {
      const { runIds } = await submitted(db.store)
      await db.sql(
        `update runs set created_at = '2026-01-31 12:00:00.120456Z', updated_at = '2026-07-31 12:00:00Z'`,
      )
      await db.sql(`alter database ${new URL(db.url).pathname.slice(1)} set timezone to '${zone}'`)
      await using store = await openStore({ url: db.url, poolSize: 1, applicationName: 'elsewhere' })
      expect(await store.runs.find(String(runIds[0]))).toMatchObject({
        created_at: '2026-01-31T12:00:00.120Z',
        updated_at: '2026-07-31T12:00:00.000Z',
      })
    },
  )
})

describe('the event log', () => {
  const events = (filter = {}, page = {}) => db.store.events.list(filter, { offset: 0, limit: 20, ...page })

  test('Events are listed by every filter, newest first, with totals and cursors', async () => {
    await db.sql(`insert into event_logs (topic, event_id, name, source, data_type, data, workspace, run_id, workflow_name,
                 processed, processed_at)
               select 'topic' || n % 2, 'evt_' || n, 'name' || n % 3, case n % 4 when 0 then 'api' else 'executor' end,
                 'custom', '{}', 'w' || n % 5, case n when 7 then 'run-7' else '' end, 'flow' || n % 6, n % 10 <> 0,
                 case when n % 10 <> 0 then now() end
               from generate_series(1, 30) n`)
    const ids = async (filter: object) =>
      (await events(filter)).data.map((entry) => Number(entry.event_id.slice(4)))
    const where = (rule: (n: number) => boolean) =>
      Array.from({ length: 30 }, (_, n) => 30 - n)
        .filter(rule)
        .slice(0, 20)
    expect(await ids({})).toEqual(where(() => true))
    expect(await ids({ topic: 'topic1' })).toEqual(where((n) => n % 2 === 1))
    expect(await ids({ name: 'name2' })).toEqual(where((n) => n % 3 === 2))
    expect(await ids({ source: 'api' })).toEqual(where((n) => n % 4 === 0))
    expect(await ids({ workspace: 'w3' })).toEqual(where((n) => n % 5 === 3))
    expect(await ids({ runId: 'run-7' })).toEqual([7])
    expect(await ids({ workflowName: 'flow5' })).toEqual(where((n) => n % 6 === 5))
    expect(await ids({ processed: false })).toEqual([30, 20, 10])
    expect(await ids({ processed: true, topic: 'topic0' })).toEqual(where((n) => n % 2 === 0 && n % 10 !== 0))
    expect(await events({ topic: 'a\0b' })).toEqual({
      data: [],
      total: 0,
      nextCursor: undefined,
      truncated: false,
    })
    const first = await events({ topic: 'topic0' }, { limit: 10 })
    const second = await events({ topic: 'topic0' }, { limit: 10, cursor: first.nextCursor })
    expect([first.total, first.data.length, second.data.length]).toEqual([15, 10, 5])
    expect(second.nextCursor).toBeUndefined()
    expect((await events({}, { limit: 1 })).data[0]).toMatchObject({
      processed: false,
      processed_at: null,
      error: '',
    })
  })
})
