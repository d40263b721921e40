import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { NO_WORK } from '@scanfarm/contracts'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'

const server = forAllTests(testServer)

const nights = async (query = '') =>
  (await server.viewer.get(`/api/nights${query}`).expect(200)).body as {
    readonly data: unknown
    readonly pagination: unknown
  }

/** Executes a schedule now: the outcomes are those of its runs. */
const night = async (id: string, works: readonly boolean[]): Promise<string> => {
  const { body } = await server.operator.post(`/api/schedules/${id}/trigger`).expect(202)
  const runs = await claimLocalRuns(server.runStore)
  expect(runs).toHaveLength(works.length)
  for (const [at, run] of runs.entries())
    await endRun(
      server.runStore,
      run,
      {},
      { tally: { ...NO_WORK, worked: true, failedSteps: works[at] ? 0 : 1 } },
    )
  await server.store.jobs.settle(0, 100)
  return body.job_id as string
}

test('The nights have the last two jobs of each schedule with their outcome, those that ran last first', async () => {
  expect(await nights()).toMatchObject({ data: [], open: { critical: 0 }, pagination: { total: 0 } })
  const create = async (name: string): Promise<string> =>
    (
      await server.admin
        .post('/api/schedules')
        .send({
          name,
          workflow_name: 'probe',
          workflow_kind: 'module',
          schedule: '0 3 * * *',
          targets: ['a.test', 'b.test'],
          concurrency: 10,
          run_mode: 'local',
        })
        .expect(201)
    ).body.data.id as string
  const nightly = await create('nightly')
  await create('weekly')
  const first = await night(nightly, [true, true])
  const second = await night(nightly, [true, false])
  const { data, pagination } = await nights()
  expect(pagination).toEqual({ total: 2, offset: 0, limit: 20 })
  expect(data).toMatchObject([
    {
      schedule_id: nightly,
      name: 'nightly',
      enabled: true,
      next_run: expect.any(String),
      running: null,
      last: { job_id: second, outcome: 'partial', target_count: 2, completed: 2, clean: 1, partial: 1 },
      previous: { job_id: first, outcome: 'clean' },
      findings: { new: {}, back: {}, gone: {} },
      open: {},
      not_tested: 0,
    },
    { name: 'weekly', last: null, previous: null },
  ])
  expect((await nights('?offset=1&limit=1')).data).toMatchObject([{ name: 'weekly' }])
  const { body: jobs } = await server.viewer.get('/api/jobs').expect(200)
  expect(jobs.data).toMatchObject([
    { job_id: second, status: 'completed', outcome: 'partial' },
    { job_id: first, status: 'completed', outcome: 'clean' },
  ])
  const { body: triggers } = await server.viewer.get('/api/triggers?source=schedule').expect(200)
  expect(triggers.data).toMatchObject([
    { name: 'nightly', last_outcome: 'partial' },
    { name: 'weekly', last_outcome: null },
  ])
  const { body: changes } = await server.viewer.get(`/api/jobs/${second}/changes?since=${first}`).expect(200)
  expect(changes.data).toEqual({
    counts: { new: {}, back: {}, gone: {}, not_tested: {} },
    new: [],
    back: [],
    gone: [],
    not_tested: [],
  })
  const { body: refused } = await server.viewer.get(`/api/jobs/${first}/changes?since=${second}`).expect(400)
  expect(refused.message).toBe(`job ${second} is not earlier than job ${first}: swap them`)
})

test('Changes of a job that does not exist are refused, and so is a limit that is too high', async () => {
  const { body } = await server.viewer.get('/api/jobs/0123456789abcdef/changes').expect(404)
  expect(body).toMatchObject({ code: 'not_found', message: expect.stringContaining('0123456789abcdef') })
  await server.viewer.get('/api/nights?limit=101').expect(400)
})
