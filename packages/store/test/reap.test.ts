import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import type { Store } from '../src/store.ts'
import { asSuperuser, testDatabase, type TestDatabase } from './database.ts'
import { claimAll, ended, joined, statusOf, step, keyOf, submitted, take, targets, wipe } from './fixtures.ts'

/** Longer than any pause of the test between two turns of the reaper: a longer one would count as a gap. */
const LEASE_MS = 20_000
const START_MS = 120_000
const OVER_A_LEASE = `interval '${LEASE_MS + 1_000} ms'`

let db: TestDatabase
beforeAll(async () => {
  db = await testDatabase()
  // The reaper waits for one lease after a start of the database.
  await until(async () => (await upMs()) > LEASE_MS, { limitMs: START_MS })
}, START_MS)
afterAll(() => db[Symbol.asyncDispose]())
const upMs = async (): Promise<number> => {
  const { rows } = await db.sql(
    'select (extract(epoch from now() - pg_postmaster_start_time()) * 1000)::int as up_ms',
  )
  return Number(rows[0]?.up_ms)
}
const reap = (changes: Partial<Parameters<Store['recovery']['reapOnce']>[0]> = {}) =>
  db.store.recovery.reapOnce({
    maxAttempts: 3,
    quarantineAfter: 2,
    leaseMs: LEASE_MS,
    limit: 1_000,
    ...changes,
  })
const expire = (...workerIds: string[]) =>
  db.sql(
    `update workers set lease_until = now() - interval '1 s' where id in (${workerIds.map((id) => `'${id}'`).join()})`,
  )
const NOTHING = { requeued: 0, failed: 0, cancelled: 0, heldBack: '' }

beforeEach(async () => {
  await wipe(db.url)
  // The state after a lease of regular turns.
  await db.sql(`update farm set reaper_turn_at = now(), reaper_hold_until = now(), mass_expiry_since = null`)
})

/** A worker with `count` running runs. */
const runningOn = async (count: number) => {
  const workerId = await joined(db.runStore)
  await submitted(db.store, {}, targets(count))
  return { workerId, runs: await claimAll(db.store, db.runStore, workerId) }
}

describe('reaping', () => {
  test('The runs of a lost worker are queued again, and the next claim makes the old attempt void', async () => {
    const { workerId, runs } = await runningOn(2)
    await db.runStore.heartbeat(workerId, 2)
    expect(await reap()).toEqual(NOTHING)
    await expire(workerId)
    expect(await reap()).toEqual({ ...NOTHING, requeued: 2 })
    const rows = await take(db.store)
    expect(rows).toMatchObject(
      runs.map((run) => ({ runId: run.runId, epoch: 1, priority: 'normal', requirementClass: '' })),
    )
    expect(await db.runStore.heartbeat(workerId, 2)).toEqual({ known: false, runs: [] })
    expect((await db.store.workers.list()).data).toMatchObject([
      { status: 'lost', busy_slots: 0, current_runs: [] },
    ])
    expect(await reap()).toEqual(NOTHING)
  })

  test('The attempts of a run name each worker and how its attempt ended, also when the worker has left', async () => {
    const { workerId, runs } = await runningOn(1)
    const [first] = runs
    if (first === undefined) throw new Error('no run was claimed')
    const ref = String(first.runId)
    expect(await db.store.runs.attempts(ref)).toMatchObject([
      { attempt: 1, ending: 'running', worker_id: workerId, worker: 'worker', ended_at: null },
    ])
    await expire(workerId)
    await reap()
    expect(await db.store.runs.attempts(ref)).toHaveLength(1)
    const second = await joined(db.runStore, { name: 'second' })
    await claimAll(db.store, db.runStore, second)
    await db.runStore.leave(second)
    const third = await joined(db.runStore, { name: 'third' })
    const [last] = await claimAll(db.store, db.runStore, third)
    if (last === undefined) throw new Error('the run was not claimed again')
    await db.runStore.finish([{ ...ended(last, 'failed', {}, 'exit code 1'), killedPids: [77] }])
    await db.runStore.leave(third)
    const iso = expect.stringMatching(/^\d{4}-.*Z$/)
    expect(await db.store.runs.attempts(ref)).toEqual([
      {
        attempt: 1,
        ending: 'worker_lost',
        reason: 'the worker was lost',
        worker_id: workerId,
        worker: 'worker',
        hostname: 'host',
        pid: 4711,
        version: '1.0.0',
        machine: '',
        started_at: iso,
        ended_at: iso,
        heard_at: iso,
        killed_pids: [],
      },
      expect.objectContaining({
        attempt: 2,
        ending: 'handed_back',
        reason: 'the worker gave the run back',
        worker: 'second',
      }),
      expect.objectContaining({
        attempt: 3,
        ending: 'failed',
        reason: 'exit code 1',
        worker: 'third',
        killed_pids: [77],
      }),
    ])
    expect(await db.store.runs.attempts('999999')).toBeUndefined()
  })

  test('A run keeps its newest 100 earlier attempts, and the names of workers that have left for 90 days', async () => {
    const { workerId, runs } = await runningOn(1)
    const ref = String(runs[0]?.runId)
    await db.sql(`update runs set attempt = 101, past_attempts = (
      select jsonb_agg(jsonb_build_object('attempt', n, 'worker_id', '', 'ended_at', now(), 'reason', 'lost'))
      from generate_series(1, 100) n)`)
    await expire(workerId)
    await reap({ maxAttempts: 200 })
    const attempts = (await db.store.runs.attempts(ref)) ?? []
    expect([attempts.length, attempts[0]?.attempt, attempts.at(-1)?.attempt]).toEqual([100, 2, 101])

    const second = await joined(db.runStore, { name: 'second' })
    const [last] = await claimAll(db.store, db.runStore, second)
    if (last === undefined) throw new Error('the run was not claimed again')
    await db.runStore.finish([ended(last, 'failed', {}, 'exit code 1')])
    await db.runStore.leave(second)
    const lastWorker = async () => (await db.store.runs.attempts(ref))?.at(-1)
    const left = (days: number) => db.sql(`update past_workers set left_at = now() - interval '${days} days'`)
    await left(89)
    await db.store.workers.prune(LEASE_MS)
    expect(await lastWorker()).toMatchObject({ worker_id: second, worker: 'second' })
    await left(91)
    await db.store.workers.prune(LEASE_MS)
    expect(await lastWorker()).toMatchObject({ worker_id: second, worker: '' })
  })

  test('The attempts of a run are bounded to the newest', async () => {
    const { runIds } = await submitted(db.store)
    for (let n = 1; n <= 102; n += 1) {
      const workerId = await joined(db.runStore)
      await claimAll(db.store, db.runStore, workerId)
      await db.runStore.leave(workerId)
    }
    const attempts = await db.store.runs.attempts(String(runIds[0]))
    expect(attempts?.map(({ attempt }) => attempt)).toEqual(Array.from({ length: 100 }, (_, n) => n + 3))
  })

  test('A run that is given up has an attempt whose worker was lost', async () => {
    const { workerId, runs } = await runningOn(1)
    await expire(workerId)
    expect(await reap({ maxAttempts: 1 })).toMatchObject({ failed: 1 })
    expect(await db.store.runs.attempts(String(runs[0]?.runId))).toMatchObject([
      {
        attempt: 1,
        ending: 'worker_lost',
        reason: expect.stringMatching(/^quarantined after 1 lost worker/),
      },
    ])
  })

  test('The runs of live workers are left alone', async () => {
    const lost = await runningOn(1)
    const alive = await runningOn(3)
    await expire(lost.workerId)
    expect(await reap()).toMatchObject({ requeued: 1 })
    for (const run of alive.runs) expect(await statusOf(db.store, run.runId)).toBe('running')
  })

  test('A run fails after the allowed number of lost workers', async () => {
    const { runIds } = await submitted(db.store)
    for (const expected of ['queued', 'queued', 'failed']) {
      const workerId = await joined(db.runStore)
      const [run] = await claimAll(db.store, db.runStore, workerId)
      if (!run) throw new Error('nothing claimed')
      await db.runStore.record([{ ...keyOf(run), steps: [step(1)] }])
      await expire(workerId)
      await reap({ maxAttempts: 3, quarantineAfter: 3 })
      expect(await statusOf(db.store, run.runId)).toBe(expected)
    }
    const run = await db.store.runs.find(String(runIds[0]))
    const worker = 'worker on host, process 4711, last heard of at \\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ'
    expect(run?.error_message).toMatch(
      new RegExp(`^quarantined after 3 lost workers: ${worker}; ${worker}; ${worker}$`),
    )
    expect((await db.store.runs.steps(String(runIds[0])))?.data[0]?.status).toBe('failed')
    const { data } = await db.store.events.list({ topic: 'run.failed' }, { offset: 0, limit: 5 })
    expect(data).toHaveLength(1)
  })

  test('A run that lost two workers is quarantined if every run lost with it has lost fewer', async () => {
    const first = await runningOn(1)
    await expire(first.workerId)
    expect(await reap()).toMatchObject({ requeued: 1, failed: 0 })
    const second = await joined(db.runStore)
    await submitted(db.store, {}, targets(3, 'beside'))
    expect(await claimAll(db.store, db.runStore, second)).toHaveLength(4)
    await expire(second)
    expect(await reap()).toMatchObject({ requeued: 3, failed: 1 })
    const run = await db.store.runs.find(String(first.runs[0]?.runId))
    expect(run).toMatchObject({
      status: 'failed',
      error_message: expect.stringMatching(/^quarantined after 2 lost workers: /),
    })
    const { data } = await db.store.events.list({ topic: 'run.failed' }, { offset: 0, limit: 5 })
    expect(data).toHaveLength(1)
    expect(JSON.parse(data[0]?.data ?? '')).toMatchObject({ error_message: run?.error_message })
  })

  test('A worker gets one run that lost a worker at a time, and the next one after ten seconds', async () => {
    const { workerId: lost } = await runningOn(3)
    await expire(lost)
    expect(await reap()).toMatchObject({ requeued: 3 })
    await submitted(db.store, {}, targets(2, 'beside'))
    const workerId = await joined(db.runStore)
    const given = await claimAll(db.store, db.runStore, workerId)
    expect(given.map(({ attempt }) => attempt).sort()).toEqual([1, 1, 2])
    const soon = () => claimAll(db.store, db.runStore, workerId, { staleMs: 0 })
    expect(await soon()).toEqual([])
    await db.sql(`update runs set claimed_at = now() - interval '11 s'`)
    expect(await soon()).toMatchObject([{ attempt: 2 }])
    expect(await soon()).toEqual([])
    const other = await joined(db.runStore)
    expect(await claimAll(db.store, db.runStore, other, { staleMs: 0 })).toMatchObject([{ attempt: 2 }])
  })

  test('Several runs that lost equally many workers each get another worker, and none share it', async () => {
    const first = await runningOn(2)
    await db.sql('update runs set crashes = 1')
    await expire(first.workerId)
    expect(await reap()).toMatchObject({ requeued: 2, failed: 0 })
    const workerId = await joined(db.runStore)
    const [suspect] = await claimAll(db.store, db.runStore, workerId)
    await db.sql(`update runs set claimed_at = now() - interval '1 hour'`)
    expect(await claimAll(db.store, db.runStore, workerId, { staleMs: 0 })).toEqual([])
    await expire(workerId)
    expect(await reap()).toMatchObject({ requeued: 0, failed: 1 })
    expect(await statusOf(db.store, suspect?.runId ?? 0)).toBe('failed')
    const last = await claimAll(db.store, db.runStore, await joined(db.runStore), { staleMs: 0 })
    expect(last).toMatchObject([{ attempt: 2 }])
  })

  test('A server takes one local run that lost a worker at a time, and other local runs beside it', async () => {
    await submitted(db.store, { runMode: 'local' }, targets(2))
    await db.sql('update runs set crashes = 1')
    const { runIds } = await submitted(db.store, { runMode: 'local' }, targets(3, 'beside'))
    const workerId = await joined(db.runStore, { kind: 'server' })
    const [suspect, ...none] = await db.runStore.claimLocal(workerId, 2)
    expect(none).toEqual([])
    const beside = await db.runStore.claimLocal(workerId, 10)
    expect(beside.map(({ runId }) => runId).sort((a, b) => a - b)).toEqual(runIds)
    if (!suspect) throw new Error('nothing claimed')
    await db.runStore.finish([ended(suspect)])
    expect(await db.runStore.claimLocal(workerId, 10)).toHaveLength(1)
  })

  test('A handed back run does not count as lost', async () => {
    const { runIds } = await submitted(db.store)
    for (let drain = 0; drain < 4; drain++) {
      const workerId = await joined(db.runStore)
      await claimAll(db.store, db.runStore, workerId)
      await db.runStore.leave(workerId)
    }
    const workerId = await joined(db.runStore)
    await claimAll(db.store, db.runStore, workerId)
    await expire(workerId)
    expect(await reap()).toMatchObject({ requeued: 1, failed: 0 })
    expect(await statusOf(db.store, runIds[0] ?? 0)).toBe('queued')
  })

  describe('of a loop', () => {
    const batchesOf = async (runId: number) =>
      (await db.store.runs.list({ parent: runId }, { offset: 0, limit: 100 })).data.reverse()
    const loop = { key: 'each', step: randomUUID(), state: 'state.json', count: 20, size: 20, workers: 3 }
    /** A worker that loses the run which it claims. */
    const loses = async () => {
      const workerId = await joined(db.runStore)
      const claimed = await claimAll(db.store, db.runStore, workerId, { limit: 1 })
      expect(claimed).toHaveLength(1)
      await expire(workerId)
      const found = await reap()
      return { found, batch: claimed[0]?.batch }
    }

    test('A batch whose worker is lost is split until its items are single, and only such a batch is given up', async () => {
      const { runs } = await runningOn(1)
      const [parent] = runs
      if (parent === undefined) throw new Error('no run was claimed')
      await db.runStore.spread(parent, loop)
      const lost = async () => (await loses()).batch
      expect(await lost()).toMatchObject({ first: 0, last: 19 })
      const parts = await db.runStore.spread(parent, loop)
      expect(parts.map(({ first, last, status }) => [first, last, status])).toEqual(
        [0, 3, 6, 9, 12, 15, 18].map((first) => [first, Math.min(first + 2, 19), 'queued']),
      )
      // The loop still has three workers at most.
      expect(await take(db.store, { staleMs: 0 })).toHaveLength(3)
      await db.sql('update outbox set sent_at = null')
      expect(await lost()).toMatchObject({ first: 0, last: 2 })
      expect((await db.runStore.spread(parent, loop)).map(({ first }) => first)).toEqual([
        0, 3, 6, 9, 12, 15, 18, 1, 2,
      ])
      await db.sql('update outbox set sent_at = null')
      expect(await loses()).toMatchObject({ batch: { first: 0, last: 0 }, found: { failed: 1 } })
      expect((await batchesOf(parent.runId))[0]?.error_message).toMatch(/^quarantined after 2 lost workers: /)
    })

    test('A loop of more items than it may have batches has larger ones', async () => {
      const { runs } = await runningOn(1)
      const [parent] = runs
      if (parent === undefined) throw new Error('no run was claimed')
      const found = await db.runStore.spread(parent, { ...loop, state: 'long.json', count: 4_001, size: 1 })
      expect(found.map(({ first, last }) => last - first + 1)).toEqual([...Array<number>(1_333).fill(3), 2])
      await db.runStore.spread(parent, { ...loop, state: '', count: 0 })
    })

    test('A batch of which a part is done ends, and the rest becomes batches that start large once', async () => {
      const { runs } = await runningOn(1)
      const [parent] = runs
      if (parent === undefined) throw new Error('no run was claimed')
      const single = { ...loop, state: 'parted.json', count: 40, workers: 1 }
      await db.runStore.spread(parent, single)
      const workerId = await joined(db.runStore)
      const [batch] = await claimAll(db.store, db.runStore, workerId, { limit: 1 })
      if (batch === undefined) throw new Error('no batch was claimed')
      const end = {
        ...ended(batch),
        part: {
          first: 1,
          last: 7,
          rest: [
            [0, 0],
            [4, 4],
            [8, 19],
          ] as const,
        },
      }
      // The answer to the first call was lost.
      for (let sent = 0; sent < 2; sent++) expect(await db.runStore.finish([end])).toEqual([])
      const found = await db.runStore.spread(parent, single)
      expect(found.map(({ first, last, status }) => [first, last, status])).toEqual([
        [1, 7, 'completed'],
        [20, 39, 'queued'],
        [0, 0, 'queued'],
        [4, 4, 'queued'],
        [8, 11, 'queued'],
        [12, 15, 'queued'],
        [16, 18, 'queued'],
        [19, 19, 'queued'],
      ])
      // One at a time, as before.
      expect(await take(db.store, { staleMs: 0 })).toHaveLength(1)
      await db.sql('update outbox set sent_at = null')
    })

    test('The rest of a batch that is cancelled meanwhile is not executed', async () => {
      const { runs } = await runningOn(1)
      const [parent] = runs
      if (parent === undefined) throw new Error('no run was claimed')
      const stopped = { ...loop, state: 'stopped.json' }
      await db.runStore.spread(parent, stopped)
      const workerId = await joined(db.runStore)
      const [batch] = await claimAll(db.store, db.runStore, workerId, { limit: 1 })
      if (batch === undefined) throw new Error('no batch was claimed')
      await db.runStore.spread(parent, { ...stopped, state: '', count: 0 })
      await db.runStore.finish([{ ...ended(batch), part: { first: 0, last: 7, rest: [[8, 19]] } }])
      expect(await batchesOf(parent.runId)).toMatchObject([{ status: 'cancelled' }])
    })

    test('A run that waits for its batches has lost no worker', async () => {
      const { runIds } = await submitted(db.store)
      for (let lost = 0; lost < 4; lost++) {
        const workerId = await joined(db.runStore)
        const claimed = await claimAll(db.store, db.runStore, workerId, { staleMs: 0 })
        const parent = claimed.find(({ runId }) => runId === runIds[0])
        if (parent === undefined) throw new Error('the run was not claimed')
        await db.runStore.spread(parent, { ...loop, workers: 1 })
        await db.runStore.handBack(claimed.filter(({ batch }) => batch !== null))
        await expire(workerId)
        expect(await reap()).toMatchObject({ requeued: 1, failed: 0 })
      }
    })
  })

  test('A lost run with a cancel request is cancelled', async () => {
    const { workerId, runs } = await runningOn(2)
    await db.store.runs.requestCancel(String(runs[0]?.runId))
    await expire(workerId)
    expect(await reap()).toEqual({ ...NOTHING, requeued: 1, cancelled: 1 })
    expect(await statusOf(db.store, runs[0]?.runId ?? 0)).toBe('cancelled')
  })

  test('A run whose worker has no row is queued again', async () => {
    const { workerId } = await runningOn(1)
    await db.sql(`delete from workers where id = '${workerId}'`)
    expect(await reap()).toMatchObject({ requeued: 1 })
  })

  test('A lost local run can be claimed by another server', async () => {
    await submitted(db.store, { runMode: 'local' })
    const workerId = await joined(db.runStore, { kind: 'server' })
    await db.runStore.claimLocal(workerId, 1)
    await expire(workerId)
    expect(await reap()).toMatchObject({ requeued: 1 })
    expect(await db.runStore.claimLocal(await joined(db.runStore, { kind: 'server' }), 1)).toMatchObject([
      { attempt: 2 },
    ])
  })

  test('A turn of the reaper continues where the limit of the previous one ended it', async () => {
    const { workerId } = await runningOn(5)
    await expire(workerId)
    const turns = [await reap({ limit: 2 }), await reap({ limit: 2 }), await reap({ limit: 2 })]
    expect(turns.map((turn) => turn.requeued)).toEqual([2, 2, 1])
  })
})

describe('when the reaper waits', () => {
  test('The reaper waits for one lease after a gap in its turns', async () => {
    const { workerId } = await runningOn(1)
    await expire(workerId)
    await db.sql(`update farm set reaper_turn_at = now() - ${OVER_A_LEASE}`)
    expect(await reap()).toEqual({ ...NOTHING, heldBack: 'gap' })
    expect(await reap()).toEqual({ ...NOTHING, heldBack: 'gap' })
    await db.sql("update farm set reaper_hold_until = now() - interval '1 ms'")
    expect(await reap()).toEqual({ ...NOTHING, requeued: 1 })
  })

  test('The reaper waits in its first turn', async () => {
    const { workerId } = await runningOn(1)
    await expire(workerId)
    await db.sql('update farm set reaper_turn_at = null, reaper_hold_until = null')
    expect(await reap()).toEqual({ ...NOTHING, heldBack: 'gap' })
  })

  test('The reaper waits for one lease after a start of the database', async () => {
    const { workerId } = await runningOn(1)
    await expire(workerId)
    await db.sql('update farm set reaper_turn_at = now(), reaper_hold_until = now()')
    expect(await reap({ leaseMs: (await upMs()) + 60_000 })).toEqual({ ...NOTHING, heldBack: 'gap' })
  })

  test('The reaper waits for one lease when several workers with over 30 % of the runs expire together', async () => {
    const lost = [await runningOn(2), await runningOn(2)]
    await runningOn(9)
    await expire(...lost.map((one) => one.workerId))
    expect(await reap()).toEqual({ ...NOTHING, heldBack: 'mass' })
    expect(await reap()).toEqual({ ...NOTHING, heldBack: 'mass' })
    await db.sql(`update farm set mass_expiry_since = now() - ${OVER_A_LEASE}`)
    expect(await reap({ limit: 3 })).toEqual({ ...NOTHING, requeued: 3 })
    expect(await reap({ limit: 3 })).toEqual({ ...NOTHING, requeued: 1 })
  })

  test('The reaper loses no worker that renews its lease while it waits', async () => {
    const lost = [await runningOn(2), await runningOn(2)]
    await expire(...lost.map((one) => one.workerId))
    expect(await reap()).toMatchObject({ heldBack: 'mass' })
    for (const one of lost)
      expect(await db.runStore.heartbeat(one.workerId, 2)).toMatchObject({ known: true })
    expect(await reap()).toEqual(NOTHING)
    await expire(...lost.map((one) => one.workerId))
    expect(await reap()).toMatchObject({ heldBack: 'mass' })
  })

  test('The reaper does not wait for 30 % of the runs or less, nor for a single worker', async () => {
    const few = [await runningOn(1), await runningOn(2)]
    const rest = await runningOn(7)
    await expire(...few.map((one) => one.workerId))
    expect(await reap()).toEqual({ ...NOTHING, requeued: 3 })
    await expire(rest.workerId)
    expect(await reap()).toEqual({ ...NOTHING, requeued: 7 })
  })

  test('The reaper does nothing while another master is reaping', async () => {
    const { workerId } = await runningOn(1)
    await expire(workerId)
    await asSuperuser(async (other) => {
      await other.query("begin; select acquire_lock('reaper')")
      expect(await reap()).toEqual(NOTHING)
      await other.query('commit')
    }, db.url)
    expect(await reap()).toMatchObject({ requeued: 1 })
  })
})
