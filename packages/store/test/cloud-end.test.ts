import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { INFRA_MOVES, INSTANCE_MOVES, type InfraStatus, type InstanceStatus } from '@scanfarm/contracts'
import { cloudJob, recordOf, request } from './cloud-fixtures.ts'
import { testDatabase } from './database.ts'
import { draft, ended, joined, keyOf, statusOf, submitted, targets, wipe } from './fixtures.ts'

const db = forAllTests(testDatabase)
let server: string
beforeEach(async () => {
  await wipe(db.url)
  server = await joined(db.store.runStore, { kind: 'server' })
})
const claim = (limit = 100) => db.store.runStore.claimCloud(server, limit)
const runsOf = async (jobId: string) =>
  (
    await db.sql<{
      status: string
      error_message: string
      asked: boolean
    }>(`select r.status, r.error_message, r.cancel_requested_at is not null as asked
               from runs r join jobs j on j.id = r.job_no where j.job_id = '${jobId}' order by r.id`)
  ).rows
const statuses = async (jobId: string) => (await runsOf(jobId)).map((run) => run.status)
const workDone = async (infraId: string) => (await recordOf(db.store, infraId)).workDone

describe('status moves', () => {
  const infraStatuses = Object.keys(INFRA_MOVES) as InfraStatus[]
  test.each(infraStatuses)(
    'An infrastructure that is %s moves only to the statuses of INFRA_MOVES',
    async (from) => {
      const { infra_id: infraId } = await request(db.store, { instances: 1 })
      const { no } = await recordOf(db.store, infraId)
      await db.sql(`update cloud_instances set status = 'destroyed'`)
      for (const to of infraStatuses) {
        await db.sql(`update cloud_infras set status = '${from}', closed_at = null`)
        expect([to, await db.store.cloud.moveInfra(no, to, 'because')]).toEqual([
          to,
          INFRA_MOVES[from].includes(to),
        ])
      }
    },
  )

  const instanceStatuses = Object.keys(INSTANCE_MOVES) as InstanceStatus[]
  test.each(instanceStatuses)(
    'A machine that is %s moves only to the statuses of INSTANCE_MOVES',
    async (from) => {
      const { infra_id: infraId } = await request(db.store, { instances: 1 })
      const { instances } = await recordOf(db.store, infraId)
      for (const to of instanceStatuses) {
        await db.sql(`update cloud_instances set status = '${from}'`)
        const moved = await db.store.cloud.moveInstance(instances[0]?.no ?? 0, to, { message: 'because' })
        expect([to, moved]).toEqual([to, INSTANCE_MOVES[from].includes(to)])
      }
    },
  )

  test('An infrastructure with a machine cannot become destroyed', async () => {
    const { infra_id: infraId } = await request(db.store, { instances: 1 })
    const { no, instances } = await recordOf(db.store, infraId)
    await db.store.cloud.drain(infraId, 'enough')
    expect(await db.store.cloud.moveInfra(no, 'destroyed', '')).toBe(false)
    await db.store.cloud.moveInstance(instances[0]?.no ?? 0, 'failed', {})
    expect(await db.store.cloud.moveInfra(no, 'destroyed', '')).toBe(true)
    expect(await db.store.cloud.find(infraId)).toMatchObject({
      status: 'destroyed',
      destroyed_at: expect.any(String),
    })
  })
})

describe('destruction on request', () => {
  test('Destroying an infrastructure cancels its waiting runs with the reason and requests the cancel of running ones', async () => {
    const { infraId, jobId } = await cloudJob(db.store, { runs: 4 })
    const running = await claim()
    const drained = await db.store.cloud.drain(infraId, 'destroyed by admin')
    expect(drained?.infra).toMatchObject({ status: 'draining', message: 'destroyed by admin' })
    expect(drained?.cancelled.sort()).toEqual(running.map((run) => run.runId).sort())
    expect(await runsOf(jobId)).toEqual([
      { status: 'running', error_message: '', asked: true },
      { status: 'running', error_message: '', asked: true },
      { status: 'cancelled', error_message: 'destroyed by admin', asked: false },
      { status: 'cancelled', error_message: 'destroyed by admin', asked: false },
    ])
    expect((await db.store.runStore.heartbeat(server, 2)).runs).toMatchObject([
      { cancelRequested: true },
      { cancelRequested: true },
    ])
    await db.store.runStore.finish(running.slice(0, 1).map((run) => ended(run)))
    expect((await db.store.cloud.drain(infraId, 'again'))?.cancelled).toEqual([])
    const { instances } = await recordOf(db.store, infraId)
    for (const one of instances) await db.store.cloud.moveInstance(one.no, 'destroying', {})
    expect(await statuses(jobId)).toEqual(['cancelled', 'cancelled', 'cancelled', 'cancelled'])
    expect((await runsOf(jobId))[1]?.error_message).toBe('destroyed by admin')
  })

  test('An ended infrastructure does not change, and an unknown one is undefined', async () => {
    const { no, infraId } = await cloudJob(db.store)
    await db.store.cloud.moveInfra(no, 'failed', 'all machines are gone')
    expect(await db.store.cloud.drain(infraId, 'enough')).toMatchObject({
      infra: { status: 'failed', message: 'all machines are gone' },
      cancelled: [],
    })
    expect(await db.store.cloud.drain('0123456789abcdef', 'enough')).toBeUndefined()
    expect(await db.store.cloud.drain("'", 'enough')).toBeUndefined()
  })

  test('Runs that are created after the destruction of their infrastructure end', async () => {
    const { infraId } = await cloudJob(db.store)
    const stream = { count: 3, chunks: async function* () { yield targets(3) } } // prettier-ignore
    const answer = await db.store.jobs.submit(draft({ runMode: 'cloud' }), stream, {
      cloud: { reuse: infraId },
    })
    await db.store.cloud.drain(infraId, 'enough')
    await db.store.jobs.expandOnce()
    expect('job' in answer && (await runsOf(answer.job.jobId))).toEqual(
      Array.from({ length: 3 }, () => ({ status: 'cancelled', error_message: 'enough', asked: false })),
    )
  })
})

describe('failure and expiry', () => {
  test.each(['failed', 'draining'] as const)(
    'The runs of an infrastructure that becomes %s fail',
    async (to) => {
      const { no, jobId } = await cloudJob(db.store, { runs: 4 })
      const [run, asked] = await claim()
      await db.store.runs.requestCancel(String(asked?.runId))
      expect(await db.store.cloud.moveInfra(no, to, 'its time is over')).toBe(true)
      expect((await statuses(jobId)).sort()).toEqual(['cancelled', 'failed', 'failed', 'failed'])
      const texts = (await runsOf(jobId)).map((one) => one.error_message)
      expect(new Set(texts)).toEqual(new Set(['its time is over', 'its time is over']))
      expect(run && (await db.store.runStore.finish([ended(run)]))).toEqual(run && [keyOf(run)])
      expect((await db.sql('select * from outbox')).rows).toEqual([])
    },
  )

  test('An infrastructure past its expiry time is reported as expired', async () => {
    const { infra_id: infraId } = await request(db.store)
    expect((await recordOf(db.store, infraId)).expired).toBe(false)
    await db.sql('update cloud_infras set expires_at = now()')
    expect((await recordOf(db.store, infraId)).expired).toBe(true)
  })

  test('Another server continues the end of an infrastructure after a crash', async () => {
    const { no, jobId } = await cloudJob(db.store, { runs: 3 })
    const { instances } = await recordOf(
      db.store,
      (await db.store.cloud.list({}, { offset: 0, limit: 1 })).data[0]?.infra_id ?? '',
    )
    // The state after a crash between the move and the end of the runs.
    await db.sql(`select move_infra(${no}, 'failed', 'all machines are gone', 'failed', false)`)
    for (const one of instances) {
      await db.store.cloud.moveInstance(one.no, 'destroying', {})
      await db.store.cloud.moveInstance(one.no, 'destroyed', {})
    }
    expect(await statuses(jobId)).toEqual(['queued', 'queued', 'queued'])
    expect(await db.store.cloud.acquire('next', 1_000)).toBeUndefined()
    expect(await statuses(jobId)).toEqual(['failed', 'failed', 'failed'])
    expect((await db.sql('select private_key, closed_at is null as open from cloud_infras')).rows).toEqual([
      { private_key: '', open: false },
    ])
  })

  test('A failed infrastructure stays due until its machines are gone', async () => {
    const { no, instances, infraId } = await cloudJob(db.store)
    await db.store.cloud.moveInfra(no, 'failed', 'no machine answers')
    expect(await recordOf(db.store, infraId)).toMatchObject({
      status: 'failed',
      privateKey: 'secret of infra',
    })
    for (const one of instances) {
      await db.store.cloud.moveInstance(one.no, 'destroying', {})
      await recordOf(db.store, infraId)
      await db.store.cloud.moveInstance(one.no, 'destroyed', {})
    }
    expect(await db.store.cloud.acquire('next', 1_000)).toBeUndefined()
  })

  test('A run that is handed back to a failed infrastructure fails', async () => {
    const { no, runIds } = await cloudJob(db.store)
    const [run] = await claim()
    if (!run) throw new Error('nothing claimed')
    await db.sql(`select move_infra(${no}, 'failed', 'all machines are gone', 'failed', false)`)
    await db.store.runStore.handBack([keyOf(run)])
    expect(await db.store.runs.find(String(runIds[0]))).toMatchObject({
      status: 'failed',
      error_message: 'all machines are gone',
    })
  })

  test('Pending runs of a failed infrastructure stay pending: they can start on another one', async () => {
    const { infra_id: reuse } = await request(db.store)
    const { runIds } = await submitted(db.store, { runMode: 'cloud' }, targets(1), {
      start: false,
      cloud: { reuse },
    })
    await db.store.cloud.drain(reuse, 'enough')
    expect(await statusOf(db.store, runIds[0] ?? 0)).toBe('pending')
    const { infra_id: other } = await request(db.store)
    const started = await db.store.runs.start(String(runIds[0]), { reuse: other })
    expect(started).toMatchObject({ started: true, run: { infra_id: other } })
  })
})

describe('finished work', () => {
  test('The work of an infrastructure is done when all runs of its jobs have ended', async () => {
    const { infra_id: reuse } = await request(db.store)
    expect(await workDone(reuse)).toBe(false)
    const { no, infraId, jobId } = await cloudJob(db.store, { runs: 2 })
    const running = await claim(1)
    await db.store.jobs.requestCancel(jobId)
    expect(await workDone(infraId)).toBe(false)
    await db.store.runStore.finish(running.map((run) => ended(run, 'failed')))
    expect(await workDone(infraId)).toBe(true)
    const more = await submitted(db.store, { runMode: 'cloud' }, targets(1), { cloud: { reuse: infraId } })
    expect(await workDone(infraId)).toBe(false)
    await db.store.cloud.bindRuns(no, 10)
    const last = await claim()
    expect(last.map((run) => run.runId)).toEqual(more.runIds)
    await db.store.runStore.finish(last.map((run) => ended(run)))
    expect(await workDone(infraId)).toBe(true)
  })

  test('The work of an infrastructure is not done while targets have no run yet', async () => {
    const { infraId, runIds } = await cloudJob(db.store)
    await db.store.runs.requestCancel(String(runIds[0]))
    expect(await workDone(infraId)).toBe(true)
    const stream = { count: 1, chunks: async function* () { yield targets(1) } } // prettier-ignore
    await db.store.jobs.submit(draft({ runMode: 'cloud' }), stream, { cloud: { reuse: infraId } })
    expect(await workDone(infraId)).toBe(false)
  })

  test('An infrastructure whose work is done is not destroyed if a job joins it concurrently', async () => {
    const outcomes = new Set<string>()
    for (let round = 0; round < 8; round++) {
      const { no, infraId, runIds } = await cloudJob(db.store, { infra: { autoDestroy: true } })
      await db.store.runs.requestCancel(String(runIds[0]))
      const [job, drained] = await Promise.allSettled([
        submitted(db.store, { runMode: 'cloud' }, targets(1), { cloud: { reuse: infraId } }),
        db.store.cloud.moveInfra(no, 'draining', 'its work is done', { onlyWhenDone: true }),
      ])
      const moved = drained.status === 'fulfilled' && drained.value
      outcomes.add(moved ? 'drained' : 'kept')
      expect(job.status).toBe(moved ? 'rejected' : 'fulfilled')
      if (job.status === 'fulfilled')
        expect(await statusOf(db.store, job.value.runIds[0] ?? 0)).toBe('queued')
    }
    expect(outcomes.size).toBeGreaterThan(0)
  })
})
