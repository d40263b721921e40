import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { TargetDraft, TargetStream } from '../src/jobs/job-draft.ts'
import { testDatabase, asSuperuser } from './database.ts'
import { claimAll, draft, ended, joined, statusOf, submitted, take, targets } from './fixtures.ts'

const db = forAllTests(() => testDatabase())

const outboxOf = (jobId: string) =>
  asSuperuser(async (client) => {
    const { rows } = await client.query<{ run_id: string; ready: boolean }>(
      'select run_id, ready from outbox o join jobs j on j.id = o.job_no where j.job_id = $1 order by run_id',
      [jobId],
    )
    return rows
  }, db.url)

const sql = async (text: string, values: unknown[] = []) =>
  asSuperuser(async (client) => (await client.query<Record<string, unknown>>(text, values)).rows, db.url)

describe('submitting a job', () => {
  test('A submitted job has one queued run for each target, in order, with the fields of the request', async () => {
    const { jobId, runIds } = await submitted(
      db.store,
      {
        runMode: 'distributed',
        priority: 'high',
        timeoutMinutes: 5,
        runnerType: 'docker',
        dockerImage: 'alpine',
      },
      targets(3),
    )
    expect(jobId).toMatch(/^[0-9a-f]{16}$/)
    const run = await db.store.runs.find(String(runIds[1]))
    expect(run).toMatchObject({
      target: 'host-1.test',
      workspace: 'host-1.test',
      status: 'queued',
      run_group_id: jobId,
      params: { ports: '1-1024' },
      priority: 'high',
      run_priority: 'high',
      timeout: 5,
      runner_type: 'docker',
      docker_image: 'alpine',
      started_at: null,
      completed_at: null,
      attempt: 0,
    })
    expect(run?.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(await outboxOf(jobId)).toHaveLength(3)
  })

  test('Only the answer for a job of one target has the UUID of the run', async () => {
    const one = await db.store.jobs.submit(draft(), targets(1))
    const run = 'job' in one && one.job.runUuid ? await db.store.runs.find(one.job.runUuid) : undefined
    expect(run?.target).toBe('host-0.test')
    const two = await db.store.jobs.submit(draft(), targets(2))
    expect('job' in two && two.job.runUuid).toBeUndefined()
  })

  test('A workflow that several jobs pin is stored once', async () => {
    const workflow = { hash: 'shared', json: '{"shared":true}' }
    await Promise.all(Array.from({ length: 8 }, () => db.store.jobs.submit(draft({ workflow }), targets(1))))
    expect(await sql("select count(*)::int as n from pinned_workflows where hash = 'shared'")).toEqual([
      { n: 1 },
    ])
    expect(await db.runStore.workflow('shared')).toBe('{"shared":true}')
    await expect(db.runStore.workflow('unknown')).rejects.toThrow(
      'no workflow is pinned under the hash unknown',
    )
  })

  test('Only as many runs are ready as the concurrency of the job allows', async () => {
    const { jobId } = await submitted(db.store, { concurrency: 2 }, targets(5))
    expect((await outboxOf(jobId)).map((row) => row.ready)).toEqual([true, true, false, false, false])
  })

  test('A pending run enters the outbox when it is started', async () => {
    const { jobId, runIds } = await submitted(db.store, {}, targets(1), { start: false })
    expect(await statusOf(db.store, runIds[0] ?? 0)).toBe('pending')
    expect(await outboxOf(jobId)).toEqual([])
    const started = await db.store.runs.start(String(runIds[0]))
    expect(started).toMatchObject({ started: true, run: { status: 'queued' } })
    expect((await outboxOf(jobId)).map((row) => row.ready)).toEqual([true])
    expect(await db.store.runs.start(String(runIds[0]))).toMatchObject({
      started: false,
      run: { status: 'queued' },
    })
    expect(await db.store.runs.start('999999999')).toBeUndefined()
  })

  test('One of two started runs of a job with one slot waits', async () => {
    const { jobId, runIds } = await submitted(db.store, { concurrency: 1 }, targets(2), { start: false })
    await Promise.all(runIds.map((id) => db.store.runs.start(String(id))))
    expect((await outboxOf(jobId)).map((row) => row.ready).sort()).toEqual([false, true])
  })

  test('A cloud job without an infrastructure is refused, and so is any other job with one', async () => {
    const refusal = 'a cloud job needs an infrastructure, and no other job may have one'
    await expect(submitted(db.store, { runMode: 'cloud' })).rejects.toThrow(refusal)
    await expect(submitted(db.store, {}, targets(1), { cloud: { reuse: 'x' } })).rejects.toThrow(refusal)
  })

  test('A job without targets is refused', async () => {
    await expect(db.store.jobs.submit(draft(), [])).rejects.toThrow('a job needs at least one target')
  })

  test('Hostile text is stored unchanged except for characters that Postgres cannot store', async () => {
    const name = `'; drop table runs; -- "{}",\\ \u202e \ud800 é`
    const { runIds } = await submitted(db.store, { params: { 'k\0ey': `a\0b${name}` } }, [
      { target: `x\0${name}`, workspace: 'w' },
    ])
    const run = await db.store.runs.find(String(runIds[0]))
    expect(run?.target).toBe(`x${name}`.toWellFormed())
    expect(run?.params).toEqual({ key: `ab${name}`.toWellFormed() })
  })
})

describe('an idempotency key', () => {
  const idempotency = (key: string, requestHash: string) => ({
    idempotency: {
      key,
      requestHash,
      answer: (job: { jobId: string }) => ({ status: 202, body: JSON.stringify({ job_id: job.jobId }) }),
    },
  })
  const jobsMade = async (hash: string) =>
    (await sql('select count(*)::int as n from jobs where workflow_hash = $1', [hash]))[0]?.['n']

  test('Concurrent requests with one idempotency key create one job and get the same answer', async () => {
    const workflow = { hash: 'idem-1', json: '{}' }
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        db.store.jobs.submit(draft({ workflow }), targets(2), idempotency('k1', 'r1')),
      ),
    )
    expect(await jobsMade('idem-1')).toBe(1)
    const made = answers.flatMap((answer) => ('job' in answer ? [answer.job.jobId] : []))
    const kept = answers.flatMap((answer) => ('kept' in answer ? [answer.kept] : []))
    expect(made).toHaveLength(1)
    expect(kept).toEqual(Array.from({ length: 5 }, () => ({ status: 202, body: `{"job_id":"${made[0]}"}` })))
    expect(await db.store.idempotency.find('k1', 'r1')).toEqual(kept[0])
  })

  test('An idempotency key is deleted after its time', async () => {
    await db.store.jobs.submit(draft(), targets(1), idempotency('old', 'r1'))
    await sql("update idempotency_keys set created_at = now() - interval '2 days' where key = 'old'")
    expect(await db.store.idempotency.prune(86_400_000)).toBe(1)
    expect(await db.store.idempotency.find('old', 'r1')).toBeUndefined()
  })
})

/** A stream of targets in chunks, like the targets of a large job. */
const chunked = (...chunks: TargetDraft[][]): TargetStream => ({
  count: chunks.flat().length,
  chunks: async function* () {
    yield* chunks
  },
})

describe('large jobs', () => {
  test('A job of 10,000 targets is created at once, and counts its runs', async () => {
    const answer = await db.store.jobs.submit(draft(), targets(10_000))
    const jobId = 'job' in answer ? answer.job.jobId : ''
    const status = await db.store.jobs.status(jobId)
    expect(status).toMatchObject({
      total_runs: 10_000,
      pending: 10_000,
      running: 0,
      completed: 0,
      failed: 0,
      cancelled: 0,
    })
    expect(status?.runs).toHaveLength(10_000)
    expect(status?.runs[9_999]).toMatchObject({ target: 'host-9999.test', status: 'queued' })
    await sql('truncate jobs, job_targets, runs, outbox, slots')
  })

  test('The runs of 100,001 targets are created chunk by chunk, also after a master dies between two chunks', async () => {
    const answer = await db.store.jobs.submit(draft({ concurrency: 3 }), targets(100_001, 'many'))
    const jobId = 'job' in answer ? answer.job.jobId : ''
    expect(await db.store.jobs.status(jobId)).toMatchObject({
      total_runs: 100_001,
      pending: 100_001,
      runs: [],
    })

    expect(await db.store.jobs.expandOnce()).toEqual([])
    // A master that dies during the second chunk: its transaction is rolled back.
    await asSuperuser(async (client) => {
      await client.query('begin')
      await client.query('select expand_chunk()')
      await client.query('rollback')
    }, db.url)
    const [first] = await sql(
      'select count(*)::int as n from runs r join jobs j on j.id = r.job_no where job_id = $1',
      [jobId],
    )
    expect(first).toEqual({ n: 2_000 })

    await Promise.all([db.store.jobs.expandOnce(), db.store.jobs.expandOnce()])
    let chunks = 0
    while (await db.store.jobs.expandOnce()) chunks++
    expect(chunks).toBe(48)
    const [all] = await sql(
      `select count(*)::int as n, count(distinct target)::int as distinct_targets from runs r
       join jobs j on j.id = r.job_no where job_id = $1`,
      [jobId],
    )
    expect(all).toEqual({ n: 100_001, distinct_targets: 100_001 })
    expect((await outboxOf(jobId)).filter((row) => row.ready)).toHaveLength(3)
    await sql('truncate jobs, job_targets, runs, outbox, slots')
  })

  test('The runs of a chunk are stored as sent as far as the queue has capacity', async () => {
    await sql('delete from outbox')
    const answer = await db.store.jobs.submit(draft({ priority: 'high' }), targets(3, 'stored'), {
      runsAtOnce: 2,
      send: 3,
    })
    expect(answer).toMatchObject({ sent: [], job: { targetCount: 3 } })
    const capacity = { critical: 0, high: 2, normal: 9, low: 9 }
    const sent = await db.store.jobs.expandOnce({ '': capacity })
    expect(sent).toMatchObject([
      { epoch: 0, priority: 'high', requirementClass: '' },
      { epoch: 0, priority: 'high', requirementClass: '' },
    ])
    const rows = await take(db.store)
    expect(rows).toHaveLength(1)
    expect([...(sent ?? []), ...rows].map(({ runId }) => runId)).toHaveLength(3)
    expect(await db.store.jobs.expandOnce({ '': capacity })).toBeUndefined()
    await sql('delete from outbox')
  })

  test('A large job that is cancelled before it is expanded has only cancelled runs', async () => {
    const answer = await db.store.jobs.submit(
      draft({ concurrency: 1 }),
      chunked(targets(4, 'gone'), targets(3, 'gone-too')),
    )
    const jobId = 'job' in answer ? answer.job.jobId : ''
    await db.store.jobs.expandOnce()
    expect(await db.store.jobs.requestCancel(jobId)).toMatchObject({ cancelled: 7, requested: [] })
    expect(await db.store.jobs.status(jobId)).toMatchObject({ pending: 0, cancelled: 7 })
    await db.store.jobs.expandOnce()
    const status = await db.store.jobs.status(jobId)
    expect(status).toMatchObject({ pending: 0, cancelled: 7 })
    expect(new Set(status?.runs.map((run) => run.status))).toEqual(new Set(['cancelled']))
    expect(await outboxOf(jobId)).toEqual([])
    await sql('delete from job_targets')
  })

  test('The targets of an urgent job are expanded first', async () => {
    const low = await db.store.jobs.submit(
      draft({ priority: 'low' }),
      chunked(targets(2, 'low'), targets(2, 'lower')),
    )
    const urgent = await db.store.jobs.submit(
      draft({ priority: 'critical' }),
      chunked(targets(3, 'urgent'), targets(3, 'more')),
    )
    await db.store.jobs.expandOnce()
    const made = async (answer: typeof low) =>
      'job' in answer ? (await db.store.jobs.status(answer.job.jobId))?.runs.length : undefined
    expect([await made(low), await made(urgent)]).toEqual([0, 3])
    await sql('delete from job_targets')
  })
})

describe('job status', () => {
  test('The counters of a job add up to its runs', async () => {
    await sql('delete from outbox')
    const { jobId, runIds } = await submitted(db.store, {}, targets(6))
    const workerId = await joined(db.runStore)
    const [a, b, c] = await db.runStore.claim(workerId, (await take(db.store, { limit: 4 })).slice(0, 4))
    if (!a || !b || !c) throw new Error('claim gave too little')
    await db.runStore.finish([ended(a), ended(b, 'failed'), ended(c, 'cancelled')])
    await db.store.runs.requestCancel(String(runIds[5]))
    expect(await db.store.jobs.status(jobId)).toMatchObject({
      total_runs: 6,
      completed: 1,
      failed: 1,
      cancelled: 2,
      running: 1,
      pending: 1,
    })
    await claimAll(db.store, db.runStore, workerId)
  })

  test('An unknown or malformed job id finds nothing', async () => {
    for (const jobId of ['0123456789abcdef', 'x', '\0', '0123456789ABCDEF']) {
      expect(await db.store.jobs.status(jobId)).toBeUndefined()
      expect(await db.store.jobs.requestCancel(jobId)).toBeUndefined()
    }
  })
})
