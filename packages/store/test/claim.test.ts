import { beforeEach, describe, expect, test } from '@jest/globals'
import { UnknownWorkerError, type ClaimedRun } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openRunStore } from '../src/index.ts'
import { testDatabase } from './database.ts'
import { claimAll, ended, joined, keyOf, statusOf, submitted, take, targets, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => wipe(db.url))

describe('claiming', () => {
  test('Twenty workers with the same messages claim each run exactly once', async () => {
    await submitted(db.store, {}, targets(200))
    const tickets = await take(db.store)
    const stores = await Promise.all(
      Array.from({ length: 20 }, () =>
        openRunStore({ url: db.url, poolSize: 1, applicationName: 'claimer' }),
      ),
    )
    try {
      const claimed = await Promise.all(
        stores.map(async (runStore) => {
          const workerId = await joined(runStore)
          const shuffled = tickets.toSorted(() => Math.random() - 0.5)
          const parts = [shuffled.slice(0, 70), shuffled.slice(70, 140), shuffled.slice(140)]
          return (await Promise.all(parts.map((part) => runStore.claim(workerId, part)))).flat()
        }),
      )
      const ids = claimed.flat().map((run) => run.runId)
      expect(ids).toHaveLength(200)
      expect(new Set(ids).size).toBe(200)
    } finally {
      await Promise.all(stores.map((store) => store[Symbol.asyncDispose]()))
    }
  })

  test('A claim returns everything that the executor needs', async () => {
    const { jobId, runIds } = await submitted(db.store, {
      workflow: { hash: 'h1', json: '{"a":1}' },
      runnerGiven: true,
      runnerType: 'ssh',
      sshHost: 'root@box',
      timeoutMinutes: 2,
      priority: 'low',
      eventEnvelope: '{"topic":"custom.x"}',
    })
    const run = await db.store.runs.find(String(runIds[0]))
    const workerId = await joined(db.runStore)
    const expected: ClaimedRun[] = [
      {
        runId: runIds[0] ?? 0,
        runUuid: run?.run_uuid ?? '',
        attempt: 1,
        epoch: 0,
        jobId,
        workflowName: 'probe',
        workflowKind: 'flow',
        workflowHash: 'h1',
        target: 'host-0.test',
        params: { ports: '1-1024' },
        workspace: 'host-0.test',
        priority: 'low',
        runMode: 'distributed',
        timeoutMs: 120_000,
        runner: { type: 'ssh', sshHost: 'root@box' },
        cancelRequested: false,
        eventEnvelope: '{"topic":"custom.x"}',
        scopesVersion: 0,
        scopes: [],
        batch: null,
        resume: null,
        resumes: null,
      },
    ]
    expect(await claimAll(db.store, db.runStore, workerId)).toEqual(expected)
    expect(await db.store.runs.find(String(runIds[0]))).toMatchObject({
      status: 'running',
      worker_id: workerId,
      attempt: 1,
    })
  })

  test('A claimed run has no runner when the caller named none: the workflow decides', async () => {
    await submitted(db.store)
    const [run] = await claimAll(db.store, db.runStore, await joined(db.runStore))
    expect(run?.runner).toBeNull()
    expect(run?.timeoutMs).toBeNull()
  })

  test('Each attempt writes one run.started event', async () => {
    const { runIds } = await submitted(db.store)
    const workerId = await joined(db.runStore)
    const [first] = await claimAll(db.store, db.runStore, workerId)
    if (!first) throw new Error('nothing claimed')
    await db.runStore.handBack([keyOf(first)])
    await claimAll(db.store, db.runStore, workerId)
    const { data } = await db.store.events.list({ topic: 'run.started' }, { offset: 0, limit: 10 })
    expect(data).toHaveLength(2)
    expect(new Set(data.map((entry) => entry.event_id)).size).toBe(2)
    expect(data[0]).toMatchObject({
      source: 'executor',
      data_type: 'scan',
      run_id: first.runUuid,
      workspace: 'host-0.test',
      workflow_name: 'probe',
      processed: true,
      error: '',
    })
    expect(JSON.parse(data[0]?.data ?? '')).toMatchObject({
      run_id: runIds[0],
      attempt: 2,
      status: 'running',
    })
  })

  test('A message of an earlier epoch claims nothing', async () => {
    const [ticket] = (await submitted(db.store)).runIds
    const workerId = await joined(db.runStore)
    const [run] = await claimAll(db.store, db.runStore, workerId)
    if (!run || ticket === undefined) throw new Error('nothing claimed')
    await db.runStore.handBack([keyOf(run)])
    expect(await db.runStore.claim(workerId, [{ runId: ticket, epoch: 0 }])).toEqual([])
    expect(await db.runStore.claim(workerId, [{ runId: ticket, epoch: 1 }])).toHaveLength(1)
  })

  test('A worker that never joined, has left or is lost claims nothing', async () => {
    const { runIds } = await submitted(db.store)
    const tickets = [{ runId: runIds[0] ?? 0, epoch: 0 }]
    const left = await joined(db.runStore)
    await db.runStore.leave(left)
    const lost = await joined(db.runStore)
    await db.sql(`update workers set lost_at = now() where id = '${lost}'`)
    for (const workerId of ['unknown', left, lost]) {
      await expect(db.runStore.claim(workerId, tickets)).rejects.toThrow(UnknownWorkerError)
      expect(await db.runStore.claimLocal(workerId, 1)).toEqual([])
      expect(await db.runStore.heartbeat(workerId, 0)).toEqual({ known: false, runs: [] })
    }
    expect(await statusOf(db.store, runIds[0] ?? 0)).toBe('queued')
  })

  test('A claim renews the lease of a late worker that is not lost yet', async () => {
    await submitted(db.store)
    const workerId = await joined(db.runStore)
    await db.sql(`update workers set lease_until = now() - interval '1 hour' where id = '${workerId}'`)
    expect(await claimAll(db.store, db.runStore, workerId)).toHaveLength(1)
    const [listed] = (await db.store.workers.list()).data
    expect(listed?.status).toBe('busy')
  })

  test('A claim without messages returns nothing', async () => {
    expect(await db.runStore.claim('unknown', [])).toEqual([])
  })
})

describe('claiming local runs', () => {
  test('Local runs are claimed by priority, then by age', async () => {
    const low = await submitted(db.store, { runMode: 'local', priority: 'low' }, targets(2))
    const normal = await submitted(db.store, { runMode: 'local', priority: 'normal' }, targets(2))
    const critical = await submitted(db.store, { runMode: 'local', priority: 'critical' }, targets(1))
    const workerId = await joined(db.runStore, { kind: 'server' })
    const order: number[] = []
    for (let claimed = await db.runStore.claimLocal(workerId, 1); claimed[0];) {
      order.push(claimed[0].runId)
      claimed = await db.runStore.claimLocal(workerId, 1)
    }
    expect(order).toEqual([...critical.runIds, ...normal.runIds, ...low.runIds])
  })

  test('A local claim takes no distributed run, and the dispatcher takes no local run', async () => {
    await submitted(db.store, { runMode: 'local' })
    expect(await take(db.store)).toEqual([])
    await submitted(db.store, { runMode: 'distributed' })
    const claimed = await db.runStore.claimLocal(await joined(db.runStore), 10)
    expect(claimed.map((run) => run.runMode)).toEqual(['local'])
  })

  test('A local claim takes no more runs of a job than it has slots', async () => {
    await submitted(db.store, { runMode: 'local', concurrency: 1 }, targets(3))
    const workerId = await joined(db.runStore)
    const [first] = await db.runStore.claimLocal(workerId, 10)
    if (!first) throw new Error('nothing claimed')
    expect(await db.runStore.claimLocal(workerId, 10)).toEqual([])
    await db.runStore.finish([ended(first)])
    expect(await db.runStore.claimLocal(workerId, 10)).toHaveLength(1)
  })

  test('Each local run is claimed by one of several servers', async () => {
    await submitted(db.store, { runMode: 'local' }, targets(120))
    const workerIds = await Promise.all(
      Array.from({ length: 6 }, () => joined(db.runStore, { kind: 'server' })),
    )
    const claimed = await Promise.all(
      workerIds.map(async (workerId) => {
        const mine: number[] = []
        for (let round = 0; round < 10; round++) {
          mine.push(...(await db.runStore.claimLocal(workerId, 3)).map((run) => run.runId))
        }
        return mine
      }),
    )
    const ids = claimed.flat()
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toHaveLength(120)
  })
})
