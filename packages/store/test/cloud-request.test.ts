import { beforeEach, describe, expect, test } from '@jest/globals'
import type { CloudFields } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { JobDraft } from '../src/jobs/job-draft.ts'
import { bringUp, budget, infraDraft, recordOf, request } from './cloud-fixtures.ts'
import { testDatabase } from './database.ts'
import { draft, ended, joined, statusOf, submitted, targets, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => wipe(db.url))
const counts = async () =>
  (
    await db.sql<{
      infras: number
      jobs: number
      runs: number
    }>(`select (select count(*)::int from cloud_infras) as infras, (select count(*)::int from jobs) as jobs,
                      (select count(*)::int from runs) as runs`)
  ).rows[0]
const refusal = async (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  )
const cloud = { infra: infraDraft(), budget: budget() }
const cloudDraft: JobDraft = draft({ runMode: 'cloud' })

describe('infrastructures', () => {
  test('An infrastructure is stored with its machines before the provider is called', async () => {
    const before = Date.now()
    const infra = await request(db.store, { instances: 3, useSpot: true })
    expect(infra).toMatchObject({
      infra_id: expect.stringMatching(/^[0-9a-f]{16}$/),
      status: 'requested',
      provider: 'local',
      region: 'here',
      instance_type: 'small',
      use_spot: true,
      auto_destroy: false,
      instances: 3,
      ready_count: 0,
      total_count: 3,
      message: '',
      hourly_cost: 1.5,
      estimated_cost: 3,
      ready_at: null,
      destroyed_at: null,
    })
    expect(Date.parse(infra.expires_at) - before).toBeGreaterThan(7_190_000)
    expect(infra.details.map((one) => one.name)).toEqual(
      [1, 2, 3].map((n) => `scanfarm-${infra.infra_id}-${n}`),
    )
    expect(infra.details[0]).toEqual({
      name: `scanfarm-${infra.infra_id}-1`,
      resource_id: '',
      status: 'requested',
      message: '',
      address: '',
      running_runs: 0,
      created_at: infra.created_at,
      ready_at: null,
      destroyed_at: null,
    })
    expect(JSON.stringify(infra)).not.toContain('key')
  })
})

describe('budgets', () => {
  test.each([
    [{ instances: 1 }, '2 machines were requested, the limit for one infrastructure is 1'],
    [{ hours: 1.5 }, '2 hours were requested, the limit for one infrastructure is 1.5'],
    [
      { cost: 1.99 },
      'the estimated cost is 2.00 US dollars (2 machines, 2 hours, 0.5 an hour), the limit for one infrastructure is 1.99',
    ],
    [{ totalInstances: 4 }, '2 machines were requested and 3 exist, the limit for all is 4'],
    [{ totalInstanceHours: 9 }, '4 machine hours were requested and 6 are in use, the limit for all is 9'],
    [
      { totalCost: 4.5 },
      'the estimated cost is 2.00 US dollars and existing machines cost 3.00, the limit for all is 4.50',
    ],
    [
      { instances: 1, hours: 1 },
      '2 machines were requested, the limit for one infrastructure is 1; 2 hours were requested, the limit for one infrastructure is 1',
    ],
  ])('The budget %j refuses a larger request, with the figures', async (bounds, message) => {
    await request(db.store, { instances: 3 })
    const error = await refusal(db.store.cloud.request(infraDraft(), budget(bounds)))
    expect(error).toMatchObject({ name: 'AppError', code: 'cloud_limit', message })
    expect(await counts()).toEqual({ infras: 1, jobs: 0, runs: 0 })
  })

  test('Concurrent requests cannot exceed the budget', async () => {
    const bounds = budget({ totalInstances: 5 })
    const answers = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => db.store.cloud.request(infraDraft(), bounds)),
      ...Array.from({ length: 4 }, () =>
        db.store.jobs.submit(cloudDraft, targets(1), { cloud: { infra: infraDraft(), budget: bounds } }),
      ),
    ])
    const refused = answers.filter((one) => one.status === 'rejected')
    expect(refused).toHaveLength(6)
    for (const { reason } of refused) {
      expect(reason).toMatchObject({
        code: 'cloud_limit',
        message: '2 machines were requested and 4 exist, the limit for all is 5',
      })
    }
    const { infras, jobs, runs } = (await counts()) ?? {}
    expect([infras, jobs]).toEqual([2, runs])
  })

  test('The budget is checked after the targets of a large job are stored, without blocking other requests', async () => {
    const bounds = budget({ totalInstances: 5 })
    const choice = () => ({ cloud: { infra: infraDraft({ instances: 3 }), budget: bounds } })
    const begun = Promise.withResolvers<void>()
    const rest = Promise.withResolvers<void>()
    const slow = db.store.jobs.submit(
      cloudDraft,
      {
        count: 20_000,
        async *chunks() {
          yield targets(10_000)
          begun.resolve()
          await rest.promise
          yield targets(10_000)
        },
      },
      choice(),
    )
    const outcome = refusal(slow)
    await begun.promise
    // A job with the same new workflow that is so large that its runs are created later.
    const stream = {
      count: 2,
      async *chunks() {
        yield targets(2)
      },
    }
    const quick = await db.store.jobs.submit(cloudDraft, stream, choice())
    expect(quick).toHaveProperty('job.infra.instances', 3)
    const direct = await refusal(db.store.cloud.request(infraDraft({ instances: 3 }), bounds))
    expect(direct).toMatchObject({ code: 'cloud_limit' })
    rest.resolve()
    expect(await outcome).toMatchObject({
      code: 'cloud_limit',
      message: '3 machines were requested and 3 exist, the limit for all is 5',
    })
    expect(await counts()).toEqual({ infras: 1, jobs: 1, runs: 0 })
  })

  test('A large job beyond the budget is refused before its targets are read', async () => {
    let read = false
    const stream = {
      count: 1,
      async *chunks() {
        read = true
        yield targets(1)
      },
    }
    const cloudTooLarge = { infra: infraDraft({ instances: 3 }), budget: budget({ instances: 2 }) }
    expect(await refusal(db.store.jobs.submit(cloudDraft, stream, { cloud: cloudTooLarge }))).toMatchObject({
      code: 'cloud_limit',
    })
    expect(read).toBe(false)
  })

  test('The budget has room again after machines are gone', async () => {
    const infra = await request(db.store)
    const bounds = budget({ totalInstances: 2 })
    expect(await refusal(db.store.cloud.request(infraDraft(), bounds))).toMatchObject({ code: 'cloud_limit' })
    const { instances } = await recordOf(db.store, infra.infra_id)
    for (const one of instances) await db.store.cloud.moveInstance(one.no, 'failed', { message: 'no quota' })
    await db.store.cloud.request(infraDraft(), bounds)
  })
})

describe('cloud jobs', () => {
  test('A cloud job is created in one transaction with its infrastructure', async () => {
    const answer = await db.store.jobs.submit(cloudDraft, targets(2), { cloud })
    if (!('job' in answer)) throw new Error('a kept answer came')
    const { infra } = answer.job
    expect(infra).toEqual({ infraId: expect.any(String), provider: 'local', instances: 2 })
    const { data } = await db.store.runs.list({ jobId: answer.job.jobId }, { offset: 0, limit: 10 })
    expect(data.map((run) => [run.status, run.waiting_reason])).toEqual(
      Array.from({ length: 2 }, () => ['queued', `waiting for infrastructure ${infra?.infraId} (requested)`]),
    )
    expect(await db.store.runs.find(data[0]?.run_uuid ?? '')).toMatchObject({
      infra_id: infra?.infraId,
      cloud_instance: '',
    })
    const broken = {
      count: 3,
      chunks: async function* () {
        yield targets(1)
        throw new Error('line 2 is bad')
      },
    }
    await expect(db.store.jobs.submit(cloudDraft, broken, { cloud })).rejects.toThrow('line 2 is bad')
    expect(await counts()).toEqual({ infras: 1, jobs: 1, runs: 2 })
  })

  test('A cloud job whose idempotency key has an answer creates nothing', async () => {
    const submit = () =>
      db.store.jobs.submit(cloudDraft, targets(1), {
        cloud,
        idempotency: {
          key: 'once',
          requestHash: 'same',
          answer: (job) => ({ status: 202, body: JSON.stringify(job.infra) }),
        },
      })
    const answers = await Promise.all([submit(), submit(), submit()])
    const made = answers.flatMap((answer) => ('job' in answer ? [answer.job] : []))
    const kept = answers.flatMap((answer) => ('kept' in answer ? [answer.kept] : []))
    expect([made.length, kept.length]).toEqual([1, 2])
    for (const one of kept) expect(one).toEqual({ status: 202, body: JSON.stringify(made[0]?.infra) })
    expect(await counts()).toEqual({ infras: 1, jobs: 1, runs: 1 })
    await db.sql('delete from idempotency_keys')
  })

  test('A cloud job can use an existing infrastructure and returns it', async () => {
    const { infra_id: reuse } = await request(db.store, { provider: 'hetzner', instances: 5 })
    const answer = await db.store.jobs.submit(cloudDraft, targets(1), { cloud: { reuse } })
    expect(answer).toMatchObject({ job: { infra: { infraId: reuse, provider: 'hetzner', instances: 5 } } })
    expect(await counts()).toEqual({ infras: 1, jobs: 1, runs: 1 })
  })

  test.each([
    ['few targets', targets(1)],
    ['stored targets', { count: 1, chunks: async function* () { yield targets(1) } }], // prettier-ignore
  ])(
    'A cloud job with %s is refused if its infrastructure is unknown or accepts no runs',
    async (_what, list) => {
      const { infra_id: reuse } = await request(db.store)
      await db.store.cloud.drain(reuse, 'enough')
      expect(await refusal(db.store.jobs.submit(cloudDraft, list, { cloud: { reuse } }))).toMatchObject({
        code: 'wrong_state',
        message: `the infrastructure ${reuse} is draining and takes no more runs`,
      })
      for (const unknown of ['0123456789abcdef', 'nothing\0like it']) {
        expect(
          await refusal(db.store.jobs.submit(cloudDraft, list, { cloud: { reuse: unknown } })),
        ).toMatchObject({ code: 'not_found' })
      }
      expect(await counts()).toEqual({ infras: 1, jobs: 0, runs: 0 })
    },
  )

  test('A cloud job leaves no run behind when its infrastructure ends concurrently', async () => {
    for (let round = 0; round < 5; round++) {
      const { infra_id: reuse } = await request(db.store)
      const jobs = Array.from({ length: 3 }, () =>
        db.store.jobs.submit(cloudDraft, targets(3), { cloud: { reuse } }),
      )
      await Promise.allSettled([...jobs, db.store.cloud.drain(reuse, 'enough')])
    }
    expect((await db.sql(`select status from runs where status <> 'cancelled'`)).rows).toEqual([])
    expect((await db.sql('select * from outbox')).rows).toEqual([])
  })
})

describe('auto_destroy', () => {
  test.each([
    ['few targets', targets(1)],
    ['stored targets', { count: 1, chunks: async function* () { yield targets(1) } }], // prettier-ignore
  ])('A job with auto_destroy and %s sets it on an existing infrastructure', async (_what, list) => {
    const { infra_id: reuse } = await request(db.store)
    await db.store.jobs.submit(cloudDraft, list, { cloud: { reuse } })
    expect(await db.store.cloud.find(reuse)).toMatchObject({ auto_destroy: false })
    const fields = { cloud_reuse_infra: reuse, cloud_auto_destroy: true }
    await db.store.jobs.submit(cloudDraft, list, { cloud: { reuse, fields } })
    expect(await db.store.cloud.find(reuse)).toMatchObject({ auto_destroy: true })
  })
})

describe('copies of cloud runs', () => {
  const fields: CloudFields = { cloud_provider: 'local', cloud_instances: 2, cloud_auto_destroy: true }
  const original = async () => {
    const { runIds } = await submitted(
      db.store,
      { runMode: 'cloud', runnerType: 'host', runnerGiven: true, concurrency: 3 },
      targets(2),
      { cloud: { ...cloud, fields } },
    )
    return String(runIds[0])
  }

  test('A copy of a cloud run has the cloud fields of the run, and no infrastructure until it is started', async () => {
    const ref = await original()
    const copy = await db.store.runs.duplicate(ref)
    if (!copy) throw new Error('no copy')
    expect(await db.store.runs.cloudOf(copy.runUuid)).toEqual({ fields, requirementClass: '' })
    expect(await db.store.runs.find(copy.runUuid)).toMatchObject({
      status: 'pending',
      run_mode: 'cloud',
      infra_id: '',
    })
    expect(await counts()).toEqual({ infras: 1, jobs: 2, runs: 3 })
    const started = await db.store.runs.start(copy.runUuid, cloud)
    expect(started).toMatchObject({ started: true, run: { status: 'queued' } })
    expect(started?.run.infra_id).not.toBe((await db.store.runs.find(ref))?.infra_id)
    expect(await db.store.runs.start(copy.runUuid, cloud)).toMatchObject({ started: false })
    expect(await counts()).toEqual({ infras: 2, jobs: 2, runs: 3 })
  })

  test('A copy of a cloud run executes on the machines with which it was started', async () => {
    const copy = await db.store.runs.duplicate(await original())
    const started = await db.store.runs.start(copy?.runUuid ?? '', cloud)
    const { no } = await bringUp(db.store, started?.run.infra_id ?? '')
    expect(await db.store.cloud.bindRuns(no, 10)).toBe(1)
    const server = await joined(db.store.runStore, { kind: 'server' })
    const [run] = await db.store.runStore.claimCloud(server, 10)
    expect(run).toMatchObject({ runUuid: copy?.runUuid, runner: { type: 'host' } })
    if (run) await db.store.runStore.finish([ended(run)])
    expect(await statusOf(db.store, run?.runId ?? 0)).toBe('completed')
  })

  test('A copy of a cloud run stays pending when its start is refused', async () => {
    const copy = await db.store.runs.duplicate(await original())
    const ref = copy?.runUuid ?? ''
    const { infra_id: reuse } = await request(db.store)
    await db.store.cloud.drain(reuse, 'enough')
    for (const [choice, code] of [
      [{ reuse }, 'wrong_state'],
      [{ reuse: '0123456789abcdef' }, 'not_found'],
      [{ infra: infraDraft(), budget: budget({ instances: 1 }) }, 'cloud_limit'],
    ] as const) {
      expect(await refusal(db.store.runs.start(ref, choice))).toMatchObject({ code })
    }
    await expect(db.store.runs.start(ref)).rejects.toThrow(
      'a cloud run cannot start without an infrastructure',
    )
    expect(await db.store.runs.find(ref)).toMatchObject({ status: 'pending', infra_id: '' })
  })

  test('Concurrent requests start a copy of a cloud run once, with one infrastructure', async () => {
    const copy = await db.store.runs.duplicate(await original())
    const starts = await Promise.all(
      Array.from({ length: 4 }, () => db.store.runs.start(copy?.runUuid ?? '', cloud)),
    )
    expect(starts.filter((one) => one?.started)).toHaveLength(1)
    expect(await counts()).toEqual({ infras: 2, jobs: 2, runs: 3 })
  })

  test('A copy of a run in another mode has no cloud fields', async () => {
    const { runIds } = await submitted(db.store)
    expect(await db.store.runs.cloudOf(String(runIds[0]))).toBeUndefined()
    expect(await db.store.runs.cloudOf('nothing')).toBeUndefined()
  })
})
