import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { cloudJob, machinesOf } from './cloud-fixtures.ts'
import { testDatabase } from './database.ts'
import { draft, ended, joined, keyOf, statusOf, submitted, targets, wipe } from './fixtures.ts'

const db = forAllTests(testDatabase)
let server: string
beforeEach(async () => {
  await wipe(db.url)
  server = await joined(db.store.runStore, { kind: 'server', capabilities: ['cloud'] })
})
const claim = async (limit = 100, by = server) =>
  (await db.store.runStore.claimCloud(by, limit)).sort((a, b) => a.runId - b.runId)
const claimedIds = async (limit?: number) => (await claim(limit)).map((run) => run.runId)

describe('binding', () => {
  test('Runs are bound to machines in turn, also those of later jobs', async () => {
    const { runIds, no, infraId } = await cloudJob(db.store, {
      runs: 5,
      infra: { instances: 3 },
      bind: false,
    })
    expect(await db.store.cloud.bindRuns(no, 2)).toBe(2)
    expect(await db.store.cloud.bindRuns(no, 100)).toBe(3)
    expect(await machinesOf(db.store, runIds)).toEqual(['1', '2', '3', '1', '2'])
    const more = await submitted(db.store, { runMode: 'cloud' }, targets(2), { cloud: { reuse: infraId } })
    expect(await db.store.cloud.bindRuns(no, 100)).toBe(2)
    expect(await machinesOf(db.store, more.runIds)).toEqual(['3', '1'])
    expect(await db.store.cloud.bindRuns(no, 100)).toBe(0)
  })

  test('Many runs are bound in chunks', async () => {
    const { no, infraId } = await cloudJob(db.store, { runs: 1, infra: { instances: 2 } })
    const chunks = [targets(3, 'a'), targets(2, 'b')]
    const stream = {
      count: 5,
      chunks: async function* () {
        yield* chunks
      },
    }
    const answer = await db.store.jobs.submit(draft({ runMode: 'cloud' }), stream, {
      cloud: { reuse: infraId },
    })
    const jobId = 'job' in answer ? answer.job.jobId : ''
    const bound: number[] = []
    while (await db.store.jobs.expandOnce()) bound.push(await db.store.cloud.bindRuns(no, 100))
    expect(bound).toEqual([3, 2])
    const { data } = await db.store.runs.list({ jobId }, { offset: 0, limit: 100 })
    expect(await machinesOf(db.store, data.map((run) => run.id).reverse())).toEqual(['2', '1', '2', '1', '2'])
  })

  test('Concurrent servers bind each run once', async () => {
    const { runIds, no } = await cloudJob(db.store, { runs: 40, infra: { instances: 4 }, bind: false })
    const bound = await Promise.all(Array.from({ length: 6 }, () => db.store.cloud.bindRuns(no, 7)))
    expect(bound.reduce((sum, one) => sum + one, 0)).toBe(40)
    const machines = await machinesOf(db.store, runIds)
    expect(machines).toEqual(runIds.map((_, n) => String(1 + (n % 4))))
  })

  test('A waiting cloud run has the reason for its wait', async () => {
    const { runIds, no, infraId } = await cloudJob(db.store, {
      runs: 2,
      infra: { instances: 1 },
      bind: false,
    })
    const reasons = async () =>
      (await db.store.runs.list({}, { offset: 0, limit: 10 })).data.map((run) => run.waiting_reason)
    expect(await reasons()).toEqual(['waiting for a free machine', 'waiting for a free machine'])
    await db.sql(`update cloud_infras set status = 'provisioning'`)
    expect((await reasons())[0]).toBe(`waiting for infrastructure ${infraId} (provisioning)`)
    await db.sql(`update cloud_infras set status = 'ready'`)
    await db.store.cloud.bindRuns(no, 10)
    await claim()
    expect(await reasons()).toEqual(['waiting for a free machine', ''])
    const run = await db.store.runs.find(String(runIds[0]))
    expect(run).toMatchObject({
      infra_id: infraId,
      cloud_instance: `scanfarm-${infraId}-1`,
      status: 'running',
    })
  })
})

describe('claims', () => {
  test('Each machine gets one run at a time', async () => {
    const { runIds } = await cloudJob(db.store, { runs: 5 })
    const first = await claim()
    expect(first.map((run) => run.runId)).toEqual(runIds.slice(0, 2))
    expect(first[0]).toMatchObject({ runMode: 'cloud', attempt: 1, epoch: 0 })
    expect(await claim()).toEqual([])
    await db.store.runStore.finish(first.slice(0, 1).map((run) => ended(run)))
    expect(await claimedIds()).toEqual([runIds[2]])
  })

  test('A machine gets its share of the concurrency of a job, and no job exceeds its concurrency', async () => {
    const { runIds } = await cloudJob(db.store, {
      runs: 12,
      draft: { concurrency: 5 },
      infra: { instances: 2 },
    })
    expect(await claimedIds()).toEqual(runIds.slice(0, 5))
    expect(await claim()).toEqual([])
  })

  test('The slots of a job with few slots pass to machines with capacity', async () => {
    await cloudJob(db.store, { runs: 40, draft: { concurrency: 4 }, infra: { instances: 2 } })
    let running = await claim()
    // The first machine is fast; the second one has not finished a run yet.
    for (let turn = 0; turn < 5; turn++) {
      const machines = await machinesOf(
        db.store,
        running.map((run) => run.runId),
      )
      const quick = running.filter((_, n) => machines[n] === '1')
      expect(quick).toHaveLength(2)
      await db.store.runStore.finish(quick.map((run) => ended(run)))
      running = [...running.filter((run) => !quick.includes(run)), ...(await claim())]
    }
  })

  test('Unbound runs get slots when no bound run waits', async () => {
    const { runIds, no } = await cloudJob(db.store, {
      runs: 6,
      draft: { concurrency: 2 },
      infra: { instances: 1 },
      bind: false,
    })
    await db.store.cloud.bindRuns(no, 3)
    const running = await claim()
    await db.store.runStore.finish(running.map((run) => ended(run)))
    const ready = await db.sql('select run_id::int from outbox where ready order by run_id')
    expect(ready.rows.map((row) => row.run_id)).toEqual(runIds.slice(2, 4))
    expect(await db.store.recovery.recountSlots(100)).toBe(0)
  })

  test('A machine keeps its share when other machines fail', async () => {
    const { runIds } = await cloudJob(db.store, {
      runs: 12,
      draft: { concurrency: 6 },
      infra: { instances: 3 },
    })
    const [lost] = (await db.store.cloud.list({}, { offset: 0, limit: 1 })).data
    for (const instance of lost?.details.slice(1) ?? [])
      await db.sql(`select lose_instance(id, 'gone') from cloud_instances where name = '${instance.name}'`)
    await db.sql('select bind_runs(id, 100) from cloud_infras')
    expect(await claimedIds()).toEqual([runIds[0], runIds[1]])
  })

  test('The waiting runs of a lost machine leave it in portions', async () => {
    const { no } = await cloudJob(db.store, { runs: 2_300, infra: { instances: 2 } })
    await db.sql(`select lose_instance(min(id), 'gone') from cloud_instances`)
    const left = async () =>
      (await db.sql(`select count(*) from outbox where instance_no = (select min(id) from cloud_instances)`))
        .rows
    expect(await left()).toEqual([{ count: '150' }])
    await db.store.cloud.bindRuns(no, 100)
    expect(await left()).toEqual([{ count: '0' }])
  })

  test('All runs on a machine count, of any job', async () => {
    const { infraId, no } = await cloudJob(db.store, { runs: 1, infra: { instances: 1 } })
    expect(await claim()).toHaveLength(1)
    await submitted(db.store, { runMode: 'cloud', concurrency: 3 }, targets(4), { cloud: { reuse: infraId } })
    await db.store.cloud.bindRuns(no, 100)
    expect(await claim()).toHaveLength(2)
    expect(await claim()).toEqual([])
  })

  test('No run is claimed before a more urgent one for which there is no capacity', async () => {
    const { infraId, no, runIds } = await cloudJob(db.store, { runs: 2, infra: { instances: 1 } })
    expect(await claimedIds()).toEqual([runIds[0]])
    const submit = async (priority: 'critical' | 'low', concurrency: number | null) =>
      (
        await submitted(db.store, { runMode: 'cloud', priority, concurrency }, targets(1), {
          cloud: { reuse: infraId },
        })
      ).runIds
    const low = await submit('low', 8)
    const critical = await submit('critical', null)
    await db.store.cloud.bindRuns(no, 100)
    expect(await claim()).toEqual([])
    const order: number[] = []
    await db.sql(`update runs set status = 'completed', completed_at = now() where status = 'running'`)
    for (let runs = await claim(1); runs.length > 0; runs = await claim(1)) {
      order.push(...runs.map((run) => run.runId))
      await db.store.runStore.finish(runs.map((run) => ended(run)))
    }
    expect(order).toEqual([...critical, runIds[1], ...low])
  })

  test('The most urgent runs of all machines are claimed first', async () => {
    const low = await cloudJob(db.store, { runs: 2, draft: { priority: 'low' } })
    const high = await cloudJob(db.store, { runs: 2, draft: { priority: 'high' } })
    expect(await claimedIds(3)).toEqual([low.runIds[0], ...high.runIds])
    expect(await claimedIds(3)).toEqual([low.runIds[1]])
  })

  test('Two concurrent servers never claim the same capacity of a machine', async () => {
    const { runIds } = await cloudJob(db.store, { runs: 60, infra: { instances: 4 } })
    const servers = await Promise.all(
      Array.from({ length: 5 }, () => joined(db.store.runStore, { kind: 'server' })),
    )
    const done: number[] = []
    while (done.length < runIds.length) {
      const claimed = (await Promise.all(servers.map((one) => claim(3, one)))).flat()
      const busy = await db.sql(
        `select instance_no from runs where status = 'running' group by 1 having count(*) > 1`,
      )
      expect(busy.rows).toEqual([])
      expect(claimed.length).toBeGreaterThan(0)
      await Promise.all(claimed.map((run) => db.store.runStore.finish([ended(run)])))
      done.push(...claimed.map((run) => run.runId))
    }
    expect(done.sort((a, b) => a - b)).toEqual(runIds)
  })

  test('An unknown server claims nothing', async () => {
    await cloudJob(db.store)
    expect(await claim(10, 'unknown')).toEqual([])
  })

  test('A cloud claim takes only cloud runs, and other claims take none', async () => {
    const { runIds } = await cloudJob(db.store)
    const local = await submitted(db.store, { runMode: 'local' })
    const distributed = await submitted(db.store)
    expect(await claimedIds()).toEqual(runIds)
    expect((await db.store.runStore.claimLocal(server, 10)).map((run) => run.runId)).toEqual(local.runIds)
    const taken = await db.store.outbox.take({
      classes: [''],
      capacity: { critical: 9, high: 9, normal: 9, low: 9 },
      limit: 9,
      staleMs: 60_000,
    })
    expect(taken.map((row) => row.runId)).toEqual(distributed.runIds)
  })
})

describe('cloud runs', () => {
  test('A handed back cloud run stays bound to its machine', async () => {
    const { runIds } = await cloudJob(db.store, { runs: 4 })
    const [first] = await claim(1)
    if (!first) throw new Error('nothing claimed')
    await db.store.runStore.handBack([keyOf(first)])
    expect(await machinesOf(db.store, runIds)).toEqual(['1', '2', '1', '2'])
    const again = await claim()
    expect(again.map((run) => run.runId)).toEqual(runIds.slice(0, 2))
    expect(again[0]).toMatchObject({ attempt: 2, epoch: 1 })
  })

  test('A cloud run of a lost server is queued again and stays bound to its machine', async () => {
    const { runIds } = await cloudJob(db.store)
    await claim()
    await db.sql(`update workers set lease_until = now() - interval '1 s'`)
    await db.sql(`update farm set reaper_turn_at = now(), reaper_hold_until = now()`)
    const reaped = await db.store.recovery.reapOnce({
      maxAttempts: 3,
      quarantineAfter: 2,
      leaseMs: 1_000,
      limit: 100,
    })
    expect(reaped).toMatchObject({ requeued: 1 })
    expect(await machinesOf(db.store, runIds)).toEqual(['1'])
    const other = await joined(db.store.runStore, { kind: 'server' })
    expect(await claim(10, other)).toMatchObject([{ runId: runIds[0], attempt: 2 }])
    expect((await db.sql('select crashes, moves from runs')).rows).toEqual([{ crashes: 1, moves: 0 }])
  })

  test('A cloud run keeps its slot when it is queued again', async () => {
    const { runIds } = await cloudJob(db.store, { runs: 4, draft: { concurrency: 2 } })
    const [first] = await claim()
    if (!first) throw new Error('nothing claimed')
    expect(await db.store.recovery.recountSlots(100)).toBe(0)
    await db.store.runStore.handBack([keyOf(first)])
    expect(await db.store.recovery.recountSlots(100)).toBe(0)
    expect(await claimedIds()).toEqual([runIds[0]])
    await db.sql('delete from slots')
    await db.sql(`update runs set status = 'completed', completed_at = now() where status = 'running'`)
    expect(await db.store.recovery.recountSlots(100)).toBe(2)
    expect(await claimedIds()).toEqual([runIds[2], runIds[3]])
  })

  test('A cloud run is cancelled like any other run', async () => {
    const { runIds, jobId } = await cloudJob(db.store, { runs: 3 })
    const [running] = await claim(1)
    expect(await db.store.runs.requestCancel(String(runIds[2]))).toMatchObject({ status: 'cancelled' })
    expect(await db.store.jobs.requestCancel(jobId)).toMatchObject({
      cancelled: 1,
      requested: [running?.runId],
    })
    expect(await claim()).toEqual([])
    if (running) await db.store.runStore.finish([ended(running)])
    expect(await statusOf(db.store, runIds[0] ?? 0)).toBe('cancelled')
  })
})

describe('machines of runs', () => {
  test('The machine of a run is returned with its keys for the current attempt while the run is running', async () => {
    const { instances, no, infraId } = await cloudJob(db.store)
    const [run] = await claim()
    if (!run) throw new Error('nothing claimed')
    expect(await db.store.cloud.machineOfRun(run.runUuid, run.attempt)).toEqual({
      infraNo: no,
      instanceNo: instances[0]?.no,
      infraId,
      provider: 'local',
      resourceId: 'vm-0',
      address: '192.0.2.1',
      port: 2222,
      sshUser: 'scan',
      privateKey: 'secret of infra',
      hostKey: 'ssh-ed25519 HOST0',
    })
    expect(await db.store.cloud.machineOfRun(run.runUuid, 2)).toBeUndefined()
    expect(await db.store.cloud.machineOfRun('no uuid', 1)).toBeUndefined()
    await db.store.runStore.finish([ended(run)])
    expect(await db.store.cloud.machineOfRun(run.runUuid, run.attempt)).toBeUndefined()
  })
})

describe('lost machines', () => {
  test('The runs of a lost machine are bound to other machines, and its row stays until it is gone', async () => {
    const { runIds, instances, no, infraId } = await cloudJob(db.store, { runs: 5 })
    const [first, second] = await claim()
    expect(await db.store.cloud.loseInstance(instances[0]?.no ?? 0, 'taken back')).toEqual({ moved: 1 })
    expect(await db.store.cloud.loseInstance(instances[0]?.no ?? 0, 'taken back')).toEqual({ moved: 0 })
    expect(await db.store.cloud.find(infraId)).toMatchObject({
      status: 'ready',
      ready_count: 1,
      details: [
        { status: 'destroying', message: 'taken back' },
        { status: 'ready', running_runs: 1 },
      ],
    })
    expect(await machinesOf(db.store, runIds)).toEqual(['', '2', '', '2', ''])
    expect(first && (await db.store.runStore.finish([ended(first)]))).toHaveLength(1)
    await db.store.cloud.bindRuns(no, 100)
    expect(await machinesOf(db.store, runIds)).toEqual(['2', '2', '2', '2', '2'])
    if (second) await db.store.runStore.finish([ended(second)])
    expect(await claim()).toMatchObject([{ runId: runIds[0], attempt: 2, epoch: 1 }])
    expect((await db.sql(`select crashes, moves from runs where id = ${runIds[0]}`)).rows).toEqual([
      { crashes: 0, moves: 1 },
    ])
  })

  test('The runs of a machine that the reconciler destroys are bound to other machines', async () => {
    const { runIds, instances } = await cloudJob(db.store, { runs: 1 })
    await claim()
    expect(await db.store.cloud.moveInstance(instances[0]?.no ?? 0, 'destroying', {})).toBe(true)
    expect(await statusOf(db.store, runIds[0] ?? 0)).toBe('queued')
    expect(await machinesOf(db.store, runIds)).toEqual([''])
  })

  test('A run with a cancel request on a lost machine is cancelled', async () => {
    const { runIds, instances } = await cloudJob(db.store, { runs: 1 })
    await claim()
    await db.store.runs.requestCancel(String(runIds[0]))
    await db.store.cloud.loseInstance(instances[0]?.no ?? 0, 'taken back')
    expect(await db.store.runs.find(String(runIds[0]))).toMatchObject({
      status: 'cancelled',
      error_message: 'cancelled on request; the machine was lost: taken back',
    })
  })

  test('A run that has lost too many machines fails', async () => {
    const { runIds, no } = await cloudJob(db.store, { runs: 1, infra: { instances: 6 } })
    for (let lost = 1; lost <= 6; lost++) {
      const [run] = await claim()
      const place = run && (await db.store.cloud.machineOfRun(run.runUuid, run.attempt))
      expect(place).toBeDefined()
      await db.store.cloud.loseInstance(place?.instanceNo ?? 0, `gone ${lost}`)
      await db.store.cloud.bindRuns(no, 10)
    }
    expect(await db.store.runs.find(String(runIds[0]))).toMatchObject({
      status: 'failed',
      error_message: 'given up: machines were lost under this, 6 times; the last one: gone 6',
    })
    expect((await db.sql('select * from outbox')).rows).toEqual([])
  })

  test('No run stays on a lost machine when servers claim concurrently', async () => {
    const { runIds, instances, no } = await cloudJob(db.store, { runs: 30, infra: { instances: 6 } })
    const losing = instances.slice(1).map((one) => db.store.cloud.loseInstance(one.no, 'gone'))
    const claiming = Array.from({ length: 6 }, () => claim(2))
    await Promise.all([...losing, ...claiming, db.store.cloud.bindRuns(no, 100)])
    const stranded = await db.sql(`
      select r.id from runs r join cloud_instances i on i.id = r.instance_no where i.status <> 'ready'
      union all select o.run_id from outbox o join cloud_instances i on i.id = o.instance_no where i.status <> 'ready'`)
    expect(stranded.rows).toEqual([])
    await db.store.cloud.bindRuns(no, 100)
    expect(new Set(await machinesOf(db.store, runIds))).toEqual(new Set(['1']))
  })

  test('A run that is handed back on a lost machine is bound to another machine', async () => {
    const { runIds, instances, no } = await cloudJob(db.store, { runs: 2 })
    await db.sql(`update cloud_instances set status = 'destroying' where id = ${instances[0]?.no}`)
    await db.store.cloud.bindRuns(no, 10)
    expect(await machinesOf(db.store, runIds)).toEqual(['2', '2'])
  })
})
