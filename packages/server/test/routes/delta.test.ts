import { expect, test } from '@jest/globals'
import { NO_WORK, type AssetContent, type Refusal, type RunsCreated } from '@scanfarm/contracts'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun, type RunOfWorker } from '../_worker.ts'
import { assetOf } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'

const server = forAllTests(() => testServer())

const post = (body: object) =>
  server.operator.post('/api/runs').send({ module: 'probe', workspace: 'shop', concurrency: 10, ...body })
const start = async (body: object): Promise<RunsCreated> =>
  (await post({ mode: 'delta', targets: ['a.test', 'b.test'], ...body }).expect(202)).body as RunsCreated
const end = (run: RunOfWorker, failedSteps = 0) =>
  endRun(server.runStore, run, {}, { tally: { ...NO_WORK, worked: true, failedSteps } })

/** Executes what waits; `failing`: the target whose run is not clean. Returns the targets. */
const execute = async (failing = ''): Promise<string[]> => {
  const runs = await claimLocalRuns(server.runStore)
  for (const run of runs) await end(run, run.target === failing ? 1 : 0)
  await server.store.jobs.settle(0, 100)
  return runs.map(({ target }) => target)
}

const asset = (value: string, title: string, page = ''): AssetContent => {
  const raw_json_data = page === '' ? '{}' : JSON.stringify({ hash: { body_md5: page } })
  return assetOf({ asset_value: value, url: `http://${value}/`, status_code: 200, title, raw_json_data })
}

/** Another scan of the workspace finds a host as it is now. */
const see = async (value: string, title: string, page?: string): Promise<void> => {
  await post({ target: 'other.test' }).expect(202)
  const [run] = await claimLocalRuns(server.runStore)
  if (run === undefined) throw new Error('no run waits')
  const records = { kind: 'asset' as const, items: [asset(value, title, page)] }
  const facts = { step: 'look', workspace: 'shop', source: 'test', errors: 0, scope: {} }
  await server.runStore.importRecords(run, { ...facts, records })
  await end(run)
}

test('A job of mode delta runs what is new or changed, or did not do all its work, and lists the rest', async () => {
  expect(await start({})).toMatchObject({ target_count: 2 })
  expect(await execute()).toEqual(['a.test', 'b.test'])

  const idle = await start({})
  expect(idle).toMatchObject({
    message: '0 runs queued',
    target_count: 0,
    left_out_count: 2,
    left_out: [
      {
        target: 'a.test',
        reason: expect.stringMatching(/^nothing changed since \d{4}-\S+Z \(run [0-9a-f-]{36}\)$/),
      },
      { target: 'b.test', reason: expect.stringContaining('nothing changed since') },
    ],
  })
  expect(await execute()).toEqual([])
  await server.operator.post(`/api/jobs/${idle.job_id}/retry`).send({}).expect(409)
  const failed = await server.viewer.get('/api/jobs?status=failed').expect(200)
  expect(failed.body.data).toEqual([])
  const about = async (part: string) => {
    const answer = await server.viewer.get(`/api/jobs/${idle.job_id}${part}`).expect(200)
    return answer.body as Record<string, unknown>
  }
  expect(await about('')).toMatchObject({ status: 'completed', total_runs: 0, runs: [] })
  expect(await about('/strip')).toMatchObject({ total: 0, states: '' })
  expect(await about('/failures')).toMatchObject({ data: [], total: 0 })
  expect(await about('/progress')).toMatchObject({ total: 0, ended: 0 })
  expect((await about('/summary'))['data']).toMatchObject({
    job_id: idle.job_id,
    outcome: 'clean',
    ended_at: expect.any(String),
    left_out: 2,
    refused: 0,
    counts: { completed: 0, failed: 0, pending: 0 },
  })
  const left = await server.viewer.get(`/api/jobs/${idle.job_id}/left-out?limit=1`).expect(200)
  expect(left.body.pagination).toMatchObject({ total: 2 })
  expect((left.body.data as Refusal[]).map(({ target, place }) => ({ target, place }))).toEqual([
    { target: 'a.test', place: 'delta' },
  ])
  const refused = await server.viewer.get(`/api/jobs/${idle.job_id}/refusals`).expect(200)
  expect(refused.body.data).toEqual([])
  await server.viewer.get('/api/jobs/0000000000000000/left-out').expect(404)

  await see('www.b.test:80', 'Shop')
  expect(await start({})).toMatchObject({ target_count: 1, target: 'b.test', left_out_count: 1 })
  expect(await execute('b.test')).toEqual(['b.test'])
  await see('www.b.test:80', 'Shop')
  expect(await start({})).toMatchObject({ target_count: 1, target: 'b.test' })
  expect(await execute()).toEqual(['b.test'])

  // A scan without a hash of the page does not say that it changed.
  for (const [at, page] of ['4', '4', '', '8', '8'].entries()) {
    await see('www.b.test:80', 'Shop', page)
    expect(await start({})).toMatchObject({ target_count: at === 3 ? 1 : 0 })
    await execute()
  }

  expect(await start({ max_age: '1ms' })).toMatchObject({ target_count: 2 })
  expect(await execute()).toEqual(['a.test', 'b.test'])
  expect(await start({ params: { ports: '22' } })).toMatchObject({ target_count: 2 })
  expect(await execute()).toEqual(['a.test', 'b.test'])
  expect(await start({ workspace: 'elsewhere' })).toMatchObject({ target_count: 2 })
  expect(await execute()).toEqual(['a.test', 'b.test'])
})

test('Anything new in the workspace changes a network, and a repository always runs', async () => {
  const targets = ['10.7.0.0/30', 'acme/shop', 'e.test']
  await start({ targets })
  expect(await execute()).toEqual(targets)
  expect(await start({ targets })).toMatchObject({ target: 'acme/shop', left_out_count: 2 })
  await execute()
  await see('10.7.0.2:80', 'Printer')
  await start({ targets })
  expect(await execute()).toEqual(['10.7.0.0/30', 'acme/shop'])
})

test('A target does not run again for what its own run has found to be gone', async () => {
  const body = { targets: ['k.test'], workspace: 'kiosk' }
  for (const ports of [[80, 81], [80]]) {
    await start({ ...body, mode: 'all' })
    const [run] = await claimLocalRuns(server.runStore)
    if (run === undefined) throw new Error('no run waits')
    const items = ports.map((port) => asset(`k.test:${port}`, 'Shop'))
    const records = { kind: 'asset' as const, items }
    const facts = { step: 'look', workspace: 'kiosk', source: 'test', errors: 0 }
    await server.runStore.importRecords(run, { ...facts, records })
    await end(run)
    // Judged later than the run has ended.
    await server.store.scans.judge({ limit: 10, history: 10 })
  }
  const gone = await server.viewer.get('/api/assets?workspace=kiosk&state=gone').expect(200)
  expect(gone.body.data).toMatchObject([{ asset_value: 'k.test:81' }])
  expect(await start(body)).toMatchObject({ target_count: 0, left_out_count: 1 })
})

test('What a scope refuses is listed apart from what is left out, which a retry and a copy do not take over', async () => {
  const scope = { name: 'greek', allowed: ['g.test', 'h.test'] }
  await server.admin.post('/api/scopes').send(scope).expect(201)
  const body = { targets: ['g.test', 'h.test', 'i.test'], scope: scope.name }
  expect(await start(body)).toMatchObject({ target_count: 2, refused_count: 1 })
  expect(await execute('h.test')).toEqual(['g.test', 'h.test'])
  const job = await start(body)
  expect(job).toMatchObject({ target: 'h.test', refused_count: 1, left_out_count: 1 })
  expect(await execute('h.test')).toEqual(['h.test'])
  const targets = async (path: string): Promise<string[]> => {
    const answer = await server.viewer.get(`/api/jobs/${job.job_id}/${path}`).expect(200)
    return (answer.body.data as Refusal[]).map(({ target }) => target)
  }
  expect(await targets('refusals')).toEqual(['i.test'])
  expect(await targets('left-out')).toEqual(['g.test'])

  const leftOut = async (id: string): Promise<unknown> =>
    (await server.viewer.get(`/api/jobs/${id}/summary`).expect(200)).body.data.left_out
  const { body: retried } = await server.operator
    .post(`/api/jobs/${job.job_id}/retry`)
    .send({ outcomes: ['partial'] })
    .expect(200)
  expect(await leftOut(retried.job_id as string)).toBe(0)
  expect(await execute()).toEqual(['h.test'])
  const { body: copied } = await server.operator
    .post(`/api/runs/${job.run_uuid}/duplicate`)
    .send({})
    .expect(201)
  expect(await leftOut(copied.job_id as string)).toBe(0)

  // The retry did all of its work.
  const { body: none } = await post({ ...body, mode: 'delta' }).expect(202)
  expect(none).toMatchObject({ target_count: 0, refused_count: 1, left_out_count: 2 })
})

test('The schedule of a request keeps its mode', async () => {
  const fields = { mode: 'delta', max_age: '3d', full_every: 5 }
  const { body } = await server.admin
    .post('/api/runs')
    .send({ module: 'probe', target: 'j.test', schedule: '0 3 * * *', ...fields })
    .expect(202)
  const { body: schedule } = await server.viewer.get(`/api/schedules/${body.schedule_id}`).expect(200)
  expect(schedule.data).toMatchObject(fields)
  await execute()
})

test('A schedule of mode delta runs all targets every so many times', async () => {
  const flow = { workflow_name: 'probe', workflow_kind: 'module', schedule: '0 3 * * *', run_mode: 'local' }
  const fields = { targets: ['c.test', 'd.test'], mode: 'delta', max_age: '30d', full_every: 2 }
  const { body } = await server.admin
    .post('/api/schedules')
    .send({ name: 'nightly', concurrency: 10, ...flow, ...fields })
    .expect(201)
  expect(body.data).toMatchObject({ mode: 'delta', max_age: '30d', full_every: 2 })
  const night = async (): Promise<string[]> => {
    await server.operator.post(`/api/schedules/${body.data.id}/trigger`).expect(202)
    return await execute()
  }
  expect(await night()).toEqual(['c.test', 'd.test'])
  expect(await night()).toEqual([])
  expect(await night()).toEqual(['c.test', 'd.test'])

  const change = (fields: object) => server.admin.put(`/api/schedules/${body.data.id}`).send(fields)
  const { body: wrong } = await change({ max_age: 'soon' }).expect(400)
  expect(wrong.details).toContainEqual({
    path: '/max_age',
    message: expect.stringContaining('must be a duration'),
  })
  const { body: never } = await change({ mode: 'delta', max_age: '7d' }).expect(200)
  expect(never.data).toMatchObject({ mode: 'delta', max_age: '7d' })
  expect(never.data).not.toHaveProperty('full_every')
  const { body: all } = await change({ mode: 'all' }).expect(200)
  expect(all.data.mode).toBe('all')
  expect(all.data).not.toHaveProperty('max_age')
  expect(await night()).toEqual(['c.test', 'd.test'])
})

test.each([
  [{ max_age: '1d' }, '/max_age', 'requires mode delta'],
  [{ full_every: 3 }, '/full_every', 'requires mode delta'],
  [{ mode: 'some' }, '/mode', ''],
  [{ mode: 'delta', max_age: 'soon' }, '/max_age', 'must be a duration'],
  [{ mode: 'delta', max_age: '9999999d' }, '/max_age', 'up to 3650d'],
  [{ mode: 'delta', full_every: 1 }, '/full_every', ''],
  [{ mode: 'delta', run_mode: 'cloud' }, '/mode', 'cannot be delta with run_mode cloud'],
])('%j is refused at %s', async (fields, path, message) => {
  const { body } = await post({ target: 'a.test', ...fields }).expect(400)
  expect(body.details).toContainEqual({ path, message: expect.stringContaining(message) })
})
