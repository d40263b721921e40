import { describe, expect, test } from '@jest/globals'
import { NO_WORK } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { refusal, testServer } from '../_server.ts'
import { claimLocalRuns, endRun, type RunOfWorker } from '../_worker.ts'

const server = forAllTests(() => testServer())

const sql = (text: string) => server.database.sql(text)

const create = async (targets: string[], more: object = {}): Promise<string> =>
  (
    await server.operator
      .post('/api/runs')
      .send({ module: 'probe', targets, concurrency: 50, ...more })
      .expect(202)
  ).body.job_id as string

const claim = async (jobId: string): Promise<RunOfWorker[]> =>
  (await claimLocalRuns(server.runStore)).filter((run) => run.jobId === jobId)

/** Ends runs as failed with these messages. */
const fail = async (runs: readonly RunOfWorker[], messageOf: (run: RunOfWorker) => string): Promise<void> => {
  for (const run of runs)
    await endRun(server.runStore, run, { status: 'failed', errorMessage: messageOf(run) })
}

/** Fields of answers that are used beyond comparisons. */
interface Body {
  readonly data: readonly {
    readonly job_id: string
    readonly counts: object | null
    readonly pattern?: string
    readonly count: number
    readonly runs: readonly object[]
  }[]
  readonly pagination: { readonly next_cursor?: string }
  readonly next_cursor?: string
  readonly series: readonly { readonly completed: number }[]
  readonly eta: Readonly<Record<'expected_seconds' | 'early_seconds' | 'late_seconds', number | null>>
  readonly runs: readonly { readonly target: string; readonly run_uuid: string }[]
}

const get = async (path: string, status = 200): Promise<Body> =>
  (await server.viewer.get(`/api${path}`).expect(status)).body as Body

const hosts = (count: number, name: string): string[] =>
  Array.from({ length: count }, (_, n) => `${name}-${n}.example`)

describe('GET /jobs', () => {
  test('jobs are listed newest first, in pages, with filters and counts', async () => {
    const first = await create(hosts(3, 'first'))
    const runs = await claim(first)
    const [one, ...others] = runs
    if (!one) throw new Error('a run was to be claimed')
    await endRun(server.runStore, one, {}, { tally: { ...NO_WORK, worked: true } })
    await fail(others, () => 'no')
    const second = await create(hosts(2, 'second'), { priority: 'high' })

    // All runs have ended, and its outcome is not known yet.
    expect((await get('/jobs')).data[1]).toMatchObject({ status: 'partial', ended_at: null, outcome: null })
    expect((await get('/jobs?status=open')).data.map(({ job_id: id }) => id)).toEqual([second])
    expect((await server.store.jobs.settle(0, 100)).counted).toBe(1)
    const list = await get('/jobs')
    expect(list.data.map(({ job_id: id }) => id)).toEqual([second, first])
    expect(list.data[0]).toMatchObject({
      status: 'open',
      workflow_name: 'probe',
      priority: 'high',
      run_mode: 'local',
      trigger_type: 'manual',
      target_count: 2,
      ended_at: null,
      counts: { pending: 2, running: 0, completed: 0 },
    })
    expect(list.data[1]).toMatchObject({
      status: 'partial',
      ended_at: expect.stringMatching(/Z$/),
      counts: {
        pending: 0,
        running: 0,
        completed: 1,
        failed: 2,
        cancelled: 0,
        clean: 1,
        partial: 0,
        nothing_done: 2,
      },
    })
    expect(await get(`/jobs/${first}/summary`)).toEqual({ data: list.data[1] })

    const page = await get('/jobs?limit=1')
    expect(page.data).toHaveLength(1)
    const next = await get(`/jobs?limit=1&cursor=${page.pagination.next_cursor}`)
    expect(next.data[0]?.job_id).toBe(first)

    const ids = async (query: string): Promise<string[]> =>
      (await get(`/jobs?${query}`)).data.map(({ job_id: id }) => id)
    expect(await ids('status=open')).toEqual([second])
    expect(await ids('status=ended')).toEqual([first])
    expect(await ids('status=partial')).toEqual([first])
    expect(await ids('status=failed')).toEqual([])
    expect(await ids(`search=${first}`)).toEqual([first])
    expect(await ids(`search=${first.slice(0, 5)}`)).toEqual([first])
    expect(await ids(`search=${first.slice(0, 5)}&workflow=nope`)).toEqual([])
    expect(await ids('workflow=probe&trigger=manual')).toEqual([second, first])
    expect(await ids('trigger=cron')).toEqual([])
    expect(await ids('priority=high')).toEqual([second])
    expect(await ids('priority=normal&status=partial')).toEqual([first])
    // The order of the ids, and its reverse.
    for (const sort of ['-created', 'targets', 'priority', 'ended', '-outcome', 'failed']) {
      expect([sort, await ids(`workflow=probe&sort=${sort}`)]).toEqual([sort, [second, first]])
      const reverse = sort.startsWith('-') ? sort.slice(1) : `-${sort}`
      const begin = await get(`/jobs?sort=${reverse}&limit=1`)
      expect([reverse, begin.data[0]?.job_id]).toEqual([reverse, first])
      const { data, pagination } = await get(
        `/jobs?sort=${reverse}&limit=1&cursor=${begin.pagination.next_cursor}`,
      )
      expect(data[0]?.job_id).toBe(second)
      const after = await get(`/jobs?sort=${reverse}&limit=1&cursor=${pagination.next_cursor}`)
      expect(after.data).toEqual([])
    }
    expect(await ids('sort=workflow&trigger=manual')).toEqual([second, first])
    await server.viewer.get('/api/jobs?sort=size').expect(400)
    await server.operator.post(`/api/jobs/${second}/cancel`).expect(202)
  })

  test('a page looks at 50,000 jobs, and counts 200,000 runs before it answers', async () => {
    const first = await create(hosts(1, 'seen'))
    const second = await create(hosts(1, 'counted'))
    await sql(`update jobs set target_count = 200001 where job_id in ('${first}', '${second}')`)
    const counts = async (): Promise<unknown[]> => (await get('/jobs?limit=2')).data.map((job) => job.counts)
    expect(await counts()).toEqual([expect.anything(), null])

    await sql(`
      insert into jobs overriding system value
      select made.*
      from jobs j, generate_series(1, 50000) n, jsonb_populate_record(j, jsonb_build_object('id', j.id + n,
        'job_id', lpad(to_hex(n), 16, '0'), 'workflow_name', 'other', 'final_counts', '{}'::jsonb)) made
      where j.job_id = '${second}'`)
    const page = await get('/jobs?workflow=probe')
    expect(page.data).toEqual([])
    const next = await get(`/jobs?workflow=probe&cursor=${page.pagination.next_cursor}`)
    expect(next.data.slice(0, 2).map(({ job_id: id }) => id)).toEqual([second, first])
    await sql(`delete from jobs where workflow_name = 'other'`)
    await sql(`update jobs set target_count = 1 where job_id in ('${first}', '${second}')`)
    for (const id of [first, second]) await server.operator.post(`/api/jobs/${id}/cancel`).expect(202)
  })

  test.each([
    'status=nope',
    'search=xyz',
    'limit=0',
    'limit=201',
    'trigger=nope',
    'priority=nope',
    'cursor=nope',
  ])('the query %s is refused', async (query) => {
    await get(`/jobs?${query}`, 400)
  })
})

describe('GET /jobs/{job_id}/strip', () => {
  test('the states of all targets are in order, in bounded pages, with an ETag', async () => {
    const job = await create(hosts(6, 'strip'))
    const [a, b, c] = await claim(job)
    if (!a || !b || !c) throw new Error('runs were to be claimed')
    await endRun(server.runStore, a, {}, { tally: { ...NO_WORK, worked: true } })
    await endRun(server.runStore, b)
    await endRun(server.runStore, c, { status: 'failed' })
    const answer = await server.viewer.get(`/api/jobs/${job}/strip`).expect(200)
    expect(answer.body).toEqual({
      job_id: job,
      total: 6,
      without_run: 0,
      states: 'cnfr3',
      ids: [[a.runId, 6]],
    })
    await server.viewer
      .get(`/api/jobs/${job}/strip`)
      .set('If-None-Match', answer.get('ETag') ?? '')
      .expect(304)

    const page = await get(`/jobs/${job}/strip?limit=4`)
    expect(page).toMatchObject({ states: 'cnfr', ids: [[a.runId, 4]] })
    const rest = await get(`/jobs/${job}/strip?limit=4&cursor=${page.next_cursor}`)
    expect(rest).toMatchObject({ states: 'r2', ids: [[a.runId + 4, 2]] })
    expect(rest.next_cursor).toBeUndefined()
    await server.operator.post(`/api/jobs/${job}/cancel`).expect(202)
  })

  test('targets without a run are counted', async () => {
    const job = await create(hosts(6_000, 'unmade'))
    expect(await get(`/jobs/${job}/strip`)).toMatchObject({
      total: 6_000,
      without_run: 6_000,
      states: '',
      ids: [],
    })
    await server.store.jobs.expandOnce()
    expect(await get(`/jobs/${job}/strip`)).toMatchObject({ without_run: 4_000, states: 'q2000' })
    await server.operator.post(`/api/jobs/${job}/cancel`).expect(202)
    while ((await server.store.jobs.expandOnce()) !== undefined);
    expect(await get(`/jobs/${job}/strip`)).toMatchObject({ without_run: 0, states: 'x6000' })
  })
})

describe('GET /jobs/{job_id}/failures', () => {
  test('messages that differ in hosts and numbers are one group', async () => {
    const job = await create(hosts(5, 'fails'))
    const runs = await claim(job)
    await fail(
      runs.slice(0, 3),
      (run) => `${run.target}: refused after ${run.runId} ms by 10.0.0.${run.runId % 200}:443`,
    )
    await fail(runs.slice(3), (run) => `no file ${run.runUuid}`)
    const { data, ...rest } = await get(`/jobs/${job}/failures`)
    expect(rest).toEqual({ total: 5, other_runs: 0, complete: true })
    expect(data).toEqual([
      {
        status: 'failed',
        outcome: 'nothing_done',
        pattern: '<host>: refused after <n> ms by <address>',
        example: expect.stringContaining('fails-0.example: refused'),
        count: 3,
        runs: runs.slice(0, 3).map((run) => ({ id: run.runId, run_uuid: run.runUuid, target: run.target })),
      },
      expect.objectContaining({ pattern: 'no file <uuid>', count: 2 }),
    ])
  })

  test('at most 100 groups with 5 runs and 300 characters of a message are returned', async () => {
    const job = await create(hosts(106, 'groups'))
    await sql(`
      update runs set status = 'failed', completed_at = now(), error_message =
        case when o.n <= 6 then repeat('x', 301) else 'reason ' || repeat('y', o.n::int) end
      from (select r.id, row_number() over (order by r.id) as n from runs r join jobs j on j.id = r.job_no
            where j.job_id = '${job}') o
      where runs.id = o.id`)
    const { data, ...rest } = await get(`/jobs/${job}/failures`)
    expect(rest).toEqual({ total: 106, other_runs: 1, complete: true })
    expect(data).toHaveLength(100)
    expect(data[0]).toMatchObject({ pattern: 'x'.repeat(300), count: 6 })
    expect(data[0]?.runs).toHaveLength(5)
  })
})

describe('GET /jobs/{job_id}/progress', () => {
  test('a job has a series and an estimate once enough runs have ended', async () => {
    const job = await create(hosts(20, 'progress'))
    expect(await get(`/jobs/${job}/progress`)).toMatchObject({
      total: 20,
      ended: 0,
      waiting: 20,
      started_at: null,
      series: [],
      rate: null,
      eta: {
        expected_seconds: null,
        early_seconds: null,
        late_seconds: null,
        reason: 'no run has ended yet',
      },
      oldest_waiting: { target: 'progress-0.example' },
    })
    const runs = await claim(job)
    for (const run of runs.slice(0, 10)) await endRun(server.runStore, run)
    const during = await get(`/jobs/${job}/progress`)
    expect(during).toMatchObject({ ended: 10, running: 10, bucket_seconds: 1, oldest_waiting: null })
    expect(during.series.reduce((sum, { completed }) => sum + completed, 0)).toBe(10)
    const { expected_seconds: expected, early_seconds: early, late_seconds: late } = during.eta
    if (expected === null || early === null) throw new Error('an estimate was to be known')
    expect(early).toBeLessThanOrEqual(expected)
    expect(late ?? Infinity).toBeGreaterThanOrEqual(expected)
    for (const run of runs.slice(10)) await endRun(server.runStore, run)
    const after = await get(`/jobs/${job}/progress`)
    expect(after).toMatchObject({ ended: 20, running: 0, eta: { reason: 'all runs have ended' } })
  })
})

describe('POST /jobs/{job_id}/retry', () => {
  test('what failed or was cancelled is repeated once, in a new job', async () => {
    const job = await create(hosts(4, 'retry'), { priority: 'high', params: { depth: '7' } })
    const [ok, failed, cancelled, open] = await claim(job)
    if (!ok || !failed || !cancelled || !open) throw new Error('runs were to be claimed')
    await endRun(server.runStore, ok, {}, { tally: { ...NO_WORK, worked: true } })
    await endRun(server.runStore, failed, { status: 'failed' })
    await endRun(server.runStore, cancelled, { status: 'cancelled' })

    const answers = await Promise.all(
      Array.from({ length: 4 }, () => server.operator.post(`/api/jobs/${job}/retry`).send({}).expect(200)),
    )
    const bodies = answers.map(({ body }) => body as { job_id: string; runs: number })
    expect(new Set(bodies.map(({ job_id: id }) => id)).size).toBe(1)
    expect(bodies.map(({ runs }) => runs).sort()).toEqual([0, 0, 0, 2])
    const retry = bodies[0]?.job_id ?? ''
    expect(await get(`/jobs/${retry}/summary`)).toMatchObject({
      data: { retry_of: job, priority: 'high', target_count: 2, workflow_name: 'probe', concurrency: 50 },
    })
    expect(await get(`/jobs/${job}/summary`)).toMatchObject({
      data: { retries: [retry], counts: { failed: 1, cancelled: 1 } },
    })

    const [again, other] = await claim(retry)
    if (!again || !other) throw new Error('runs were to be claimed')
    expect([again.target, other.target]).toEqual([failed.target, cancelled.target])
    expect(again.params).toMatchObject({ depth: '7' })
    await endRun(server.runStore, again, {}, { tally: { ...NO_WORK, worked: true } })
    await endRun(server.runStore, other, { status: 'failed' })
    await endRun(server.runStore, open, { status: 'failed' })
    // The latest runs count: the first target has completed meanwhile, and two have failed.
    const { body } = await server.operator
      .post(`/api/jobs/${job}/retry`)
      .send({ statuses: ['failed'] })
      .expect(200)
    expect(body).toMatchObject({ runs: 2, retry_of: job })
    const runs = await claim(body.job_id as string)
    expect(runs.map(({ target }) => target)).toEqual([open.target, other.target].sort())
    for (const run of runs) await endRun(server.runStore, run)
    const none = await server.operator.post(`/api/jobs/${job}/retry`).send({}).expect(409)
    expect(none.body).toEqual(
      refusal('wrong_state', "nothing to retry: no target's latest run is failed or cancelled"),
    )
    const partly = await server.operator
      .post(`/api/jobs/${job}/retry`)
      .send({ outcomes: ['nothing_done'] })
      .expect(200)
    expect(partly.body.runs).toBe(2)
    await server.operator.post(`/api/jobs/${partly.body.job_id}/cancel`).expect(202)
  })

  test('a retry continues where from says, with the choice of the job', async () => {
    const job = await create(hosts(3, 'from'), { resume: 'steps' })
    for (const run of await claim(job)) {
      const { attempt, runUuid } = run
      expect(run.resumes).toBe('steps')
      await endRun(server.runStore, run, { status: 'failed' }, { resume: { runUuid, attempt, entries: 2 } })
    }
    const path = `/api/jobs/${job}/retry`
    const refused = await server.operator.post(path).send({ from: 'no-such-step' }).expect(400)
    expect(refused.body.details).toEqual([
      {
        path: '/from',
        message: 'must be start, failed or the name of a step: there is no step no-such-step',
      },
    ])
    const retried = async (body: object) => {
      const answer = await server.operator.post(path).send(body).expect(200)
      const runs = await claim(answer.body.job_id as string)
      for (const run of runs) await endRun(server.runStore, run, { status: 'failed' })
      return runs.map(({ resume, resumes }) => ({ resume, resumes }))
    }
    const points = (from: unknown) =>
      Array.from({ length: 3 }, () => ({
        resumes: 'steps',
        resume: expect.objectContaining({ entries: 2, from }),
      }))
    expect(await retried({})).toEqual(points('failed'))
    expect(await retried({ from: 'hello' })).toEqual(points({ step: 'hello' }))
    expect(await retried({ from: 'start' })).toEqual(
      Array.from({ length: 3 }, () => ({ resumes: 'steps', resume: null })),
    )
    // Nothing is stored.
    const [bare] = await claim(await create(hosts(1, 'bare')))
    if (!bare) throw new Error('a run was to be claimed')
    await endRun(server.runStore, bare, { status: 'failed' })
    const body = { ids: [bare.runId], from: 'hello' }
    const { data } = (await server.operator.post('/api/runs/retry').send(body).expect(200)).body
    const message = '1 of 1 from the start: no step of the earlier run is stored'
    expect(data).toMatchObject([{ result: 'retried', message }])
    const point = { runUuid: bare.runUuid, attempt: 1, entries: 0, from: { step: 'hello' } }
    expect(await claim(data[0].job_id)).toMatchObject([{ resume: point }])
    await server.operator.post(`/api/jobs/${data[0].job_id}/cancel`).expect(202)
  })

  test('a group of failures is repeated by its pattern', async () => {
    const job = await create(hosts(4, 'group'))
    const runs = await claim(job)
    await fail(runs.slice(0, 2), (run) => `${run.target}: refused after ${run.runId} ms`)
    await fail(runs.slice(2), () => 'no such file')
    const [group] = (await get(`/jobs/${job}/failures`)).data
    const retry = async (pattern: string, status: number) => {
      const sent = server.operator.post(`/api/jobs/${job}/retry`).send({ statuses: ['failed'], pattern })
      return (await sent.expect(status)).body as Record<'message' | 'job_id' | 'runs', unknown>
    }
    const none = await retry('another message', 409)
    expect(none.message).toContain("no target's latest run is failed with this pattern")
    const { job_id: made, runs: count } = await retry(group?.pattern ?? '', 200)
    expect(count).toBe(2)
    const again = await claim(made as string)
    expect(again.map(({ target }) => target)).toEqual(runs.slice(0, 2).map(({ target }) => target))
    for (const run of again) await endRun(server.runStore, run)
  })

  test('a large retry is stored first and expanded later', async () => {
    const job = await create(hosts(5_500, 'many'))
    while ((await server.store.jobs.expandOnce()) !== undefined);
    await server.operator.post(`/api/jobs/${job}/cancel`).expect(202)
    while ((await server.store.jobs.finishCancel()) !== undefined);
    const { body } = await server.operator.post(`/api/jobs/${job}/retry`).send({}).expect(200)
    expect(body.runs).toBe(5_500)
    const twice = await server.operator.post(`/api/jobs/${job}/retry`).send({}).expect(200)
    expect(twice.body).toMatchObject({ job_id: body.job_id, runs: 0 })
    while ((await server.store.jobs.expandOnce()) !== undefined);
    const { runs } = await get(`/jobs/${body.job_id}`)
    expect(runs.map(({ target }) => target)).toEqual(hosts(5_500, 'many'))
    await server.operator.post(`/api/jobs/${body.job_id}/cancel`).expect(202)
    while ((await server.store.jobs.finishCancel()) !== undefined);
  })

  test('an empty selection and an unknown job are refused', async () => {
    const job = await create(hosts(1, 'empty'))
    await server.operator.post(`/api/jobs/${job}/retry`).send({ statuses: [] }).expect(400)
    await server.operator
      .post(`/api/jobs/${job}/retry`)
      .send({ statuses: ['completed'] })
      .expect(400)
    await server.operator.post('/api/jobs/0123456789abcdef/retry').send({}).expect(404)
    await server.viewer.post(`/api/jobs/${job}/retry`).send({}).expect(403)
    await server.operator.post(`/api/jobs/${job}/cancel`).expect(202)
  })
})

describe('POST /runs/cancel and /runs/retry', () => {
  test('each run has its own result', async () => {
    const job = await create(hosts(4, 'bulk'), { concurrency: 2 })
    const [one, two] = await claim(job)
    if (!one || !two) throw new Error('runs were to be claimed')
    await endRun(server.runStore, one, { status: 'failed' })
    const { runs } = await get(`/jobs/${job}`)
    const waiting = runs[3]?.run_uuid ?? ''
    const ids = [one.runId, two.runUuid, waiting, 987_654_321, 'nonsense']
    const { body } = await server.operator.post('/api/runs/cancel').send({ ids }).expect(200)
    expect(body.data).toEqual([
      { id: String(one.runId), result: 'ended', status: 'failed' },
      { id: two.runUuid, result: 'stopping', status: 'running' },
      { id: waiting, result: 'cancelled', status: 'cancelled' },
      { id: '987654321', result: 'not_found' },
      { id: 'nonsense', result: 'not_found' },
    ])
    const retry = await server.operator.post('/api/runs/retry').send({ ids }).expect(200)
    const [first, second, third, ...unknown] = retry.body.data as {
      result: string
      job_id?: string
      run_uuid?: string
    }[]
    expect(first).toEqual({
      id: String(one.runId),
      result: 'retried',
      job_id: expect.any(String),
      run_uuid: expect.any(String),
    })
    expect(second).toMatchObject({ id: two.runUuid, result: 'refused' })
    expect(third).toMatchObject({ result: 'retried', job_id: first?.job_id })
    expect(unknown.map(({ result }) => result)).toEqual(['not_found', 'not_found'])
    const twice = await server.operator
      .post('/api/runs/retry')
      .send({ ids: [one.runUuid] })
      .expect(200)
    expect(twice.body.data).toEqual([
      { id: one.runUuid, result: 'running', job_id: first?.job_id, run_uuid: first?.run_uuid },
    ])
    for (const id of [job, first?.job_id])
      await server.operator.post(`/api/jobs/${String(id)}/cancel`).expect(202)
  })

  test.each([{ ids: [] }, { ids: Array.from({ length: 1_001 }, (_, n) => n + 1) }, {}])(
    'a request without 1 to 1,000 ids is refused',
    async (body) => {
      await server.operator.post('/api/runs/cancel').send(body).expect(400)
      await server.operator.post('/api/runs/retry').send(body).expect(400)
    },
  )
})

describe('PATCH /jobs/{job_id}', () => {
  test('waiting runs of a raised job start first', async () => {
    const low = await create(hosts(3, 'low'), { priority: 'low' })
    const normal = await create(hosts(1, 'normal'))
    const { body } = await server.operator
      .patch(`/api/jobs/${low}`)
      .send({ priority: 'critical' })
      .expect(200)
    expect(body).toEqual({
      message: '3 waiting runs have the priority critical',
      job_id: low,
      priority: 'critical',
      previous: 'low',
      changed: 3,
    })
    const claimed = await claimLocalRuns(server.runStore, 4)
    expect(claimed.map(({ jobId }) => jobId).sort()).toEqual([low, low, low, normal].sort())
    const same = await server.operator.patch(`/api/jobs/${low}`).send({ priority: 'critical' }).expect(200)
    expect(same.body).toMatchObject({ changed: 0, message: 'The priority was already critical' })
    await server.operator.patch(`/api/jobs/${low}`).send({ priority: 'urgent' }).expect(400)
    await server.operator.patch('/api/jobs/0123456789abcdef').send({ priority: 'low' }).expect(404)
  })
})
