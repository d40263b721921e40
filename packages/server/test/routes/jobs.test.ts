import { describe, expect, test } from '@jest/globals'
import { NO_WORK, type JobStatus } from '@scanfarm/contracts'
import { silentLogger } from '@scanfarm/platform'
import { openRunQueue } from '@scanfarm/queue'
import { startRedis } from '@scanfarm/queue/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'

const server = forAllTests(() => testServer())

const noJob = (id: string) => ({
  error: true,
  message: `there is no job "${id}"`,
  code: 'not_found',
  request_id: expect.any(String),
  details: [],
})

const create = async (targets: string[], concurrency = 10): Promise<string> =>
  (await server.operator.post('/api/runs').send({ module: 'probe', targets, concurrency }).expect(202)).body
    .job_id as string

describe('GET /jobs/{job_id}', () => {
  test('a job counts its runs by status, and the counts add up', async () => {
    const job = await create(['a.example', 'b.example', 'c.example', 'd.example', 'e.example'])
    const [one, two, three, four] = await claimLocalRuns(server.runStore, 4)
    if (!one || !two || !three || !four) throw new Error('four runs were to be claimed')
    await endRun(server.runStore, one, {}, { tally: { ...NO_WORK, worked: true } })
    await endRun(server.runStore, two, { status: 'failed' })
    await endRun(server.runStore, three, { status: 'cancelled' })
    const { body } = await server.viewer.get(`/api/jobs/${job}`).expect(200)
    expect(body).toEqual({
      job_id: job,
      run_group_id: job,
      status: 'running',
      total_runs: 5,
      completed: 1,
      running: 1,
      failed: 1,
      pending: 1,
      cancelled: 1,
      outcomes: { clean: 1, partial: 0, nothing_done: 2 },
      progress: { total: 5, completed: 1, running: 1, failed: 1, pending: 1, cancelled: 1 },
      runs: [
        { run_uuid: one.runUuid, target: 'a.example', status: 'completed', outcome: 'clean' },
        { run_uuid: two.runUuid, target: 'b.example', status: 'failed', outcome: 'nothing_done' },
        { run_uuid: three.runUuid, target: 'c.example', status: 'cancelled', outcome: 'nothing_done' },
        { run_uuid: four.runUuid, target: 'd.example', status: 'running', outcome: '' },
        { run_uuid: expect.any(String), target: 'e.example', status: 'queued', outcome: '' },
      ],
    })
  })

  test.each([
    ['completed', ['completed', 'completed']],
    ['failed', ['failed', 'failed']],
    ['cancelled', ['cancelled', 'cancelled']],
    ['partial', ['completed', 'failed']],
  ] as const)('a job is %s if its runs ended as %j', async (status, ends) => {
    await server.store.jobs.requestCancel(await create(['z.example']))
    const job = await create(['a.example', 'b.example'])
    const claimed = (await claimLocalRuns(server.runStore)).filter(({ jobId }) => jobId === job)
    for (const [index, run] of claimed.entries())
      await endRun(server.runStore, run, { status: ends[index] ?? 'failed' })
    const { body } = await server.viewer.get(`/api/jobs/${job}`).expect(200)
    expect(body.status).toBe(status)
  })

  test('a large job is streamed in the same format', async () => {
    const targets = Array.from({ length: 20_001 }, (_, n) => `large-${n}.example`)
    const job = await create(targets, 1)
    const read = async (): Promise<JobStatus> => {
      const answer = await server.viewer.get(`/api/jobs/${job}`).expect('Content-Type', /^application\/json/)
      return answer.body as JobStatus
    }
    const counts = { job_id: job, run_group_id: job, status: 'pending', total_runs: 20_001, pending: 20_001 }
    // Its runs are created after the answer.
    expect(await read()).toMatchObject(counts)
    while ((await server.store.jobs.expandOnce()) !== undefined);
    const body = await read()
    expect(body).toMatchObject(counts)
    expect(body.runs.map(({ target }) => target)).toEqual(targets)
    expect(body.runs.at(-1)).toEqual({
      run_uuid: expect.any(String),
      target: 'large-20000.example',
      status: 'queued',
      outcome: '',
    })
    await server.operator.post(`/api/jobs/${job}/cancel`).expect(202)
  })

  test.each(['0123456789abcdef', 'nope', '1'])('the job %s answers 404', async (id) => {
    const { body } = await server.viewer.get(`/api/jobs/${id}`).expect(404)
    expect(body).toEqual(noJob(id))
  })
})

describe('POST /jobs/{job_id}/cancel', () => {
  test('a cancelled job no longer lowers the share of its owner, also if its last run was cancelled before', async () => {
    await using redis = await startRedis()
    await using master = await testServer({ master: true, redis: redis.url })
    const { store } = master
    const farmId = await store.farmId()
    await using queue = await openRunQueue(
      { kind: 'redis', url: redis.url },
      { farmId, role: 'master', log: silentLogger },
    )
    const capacity = { critical: 80, high: 80, normal: 80, low: 80 }
    const send = async () => {
      const body = {
        module: 'probe',
        targets: Array.from({ length: 80 }, (_, n) => `share-${n}.example`),
        run_mode: 'distributed',
      }
      const { body: made } = await master.operator.post('/api/runs').send(body).expect(202)
      const rows = await store.outbox.take({ classes: [''], capacity, limit: 80, staleMs: 10_000 })
      await queue.add(rows)
      return { jobId: String(made.job_id), rows }
    }
    const share = { jobNo: 9_999, owner: 'other', weight: 1 }
    const other = { priority: 'normal' as const, requirementClass: '', epoch: 0, share }
    await queue.add(Array.from({ length: 200 }, (_, n) => ({ ...other, runId: 100_000 + n })))
    const cancelled = await send()
    await master.operator.delete(`/api/runs/${cancelled.rows.at(-1)?.runId}`).expect(200)
    await master.operator.post(`/api/jobs/${cancelled.jobId}/cancel`).expect(202)
    await queue.remove(cancelled.rows.slice(0, -1))
    const next = await send()
    await using consumer = queue.consumer({ serves: () => true })
    const taken = await consumer.take(90, AbortSignal.timeout(30_000))
    const own = new Set(next.rows.map(({ runId }) => runId))
    expect(taken.filter(({ runId }) => own.has(runId)).length).toBeGreaterThan(38)
  })

  test('a cancel ends waiting runs immediately and asks the others to stop', async () => {
    const job = await create(['a.example', 'b.example', 'c.example'], 1)
    const claimed = (await claimLocalRuns(server.runStore)).filter(({ jobId }) => jobId === job)
    expect(claimed).toHaveLength(1)
    const { body } = await server.operator.post(`/api/jobs/${job}/cancel`).expect(202)
    expect(body).toEqual({ message: 'Job cancelled successfully', job_id: job, cancelled: 2, stopping: 1 })
    const during = await server.viewer.get(`/api/jobs/${job}`).expect(200)
    expect(during.body).toMatchObject({ cancelled: 2, running: 1 })
    for (const run of claimed) await endRun(server.runStore, run)
    const after = await server.viewer.get(`/api/jobs/${job}`).expect(200)
    expect(after.body).toMatchObject({ cancelled: 3, running: 0, status: 'cancelled' })
    const again = await server.operator.post(`/api/jobs/${job}/cancel`).expect(202)
    expect(again.body).toEqual({
      message: 'All runs of the job have already ended',
      job_id: job,
      cancelled: 0,
      stopping: 0,
    })
  })

  test('a cancel of an unknown job answers 404', async () => {
    const { body } = await server.operator.post('/api/jobs/0123456789abcdef/cancel').expect(404)
    expect(body).toEqual(noJob('0123456789abcdef'))
  })
})
