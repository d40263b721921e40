import { expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'
import { claimLocalRuns, endRun, stepRecord } from '../_worker.ts'

const server = forAllTests(() => testServer())

const TARGET = 'https://user:pa%40ss@example.com:8443/a'
const MASKED = 'https://user:***@example.com:8443/a'

test('the password of a target is masked in lists, jobs and events, and complete in the run itself', async () => {
  const created = await server.operator
    .post('/api/runs')
    .send({ module: 'probe', target: TARGET })
    .expect(202)
  const { run_uuid: uuid, job_id: job } = created.body as { run_uuid: string; job_id: string }
  await server.operator.delete(`/api/runs/${uuid}`).expect(200)
  const read = async (path: string): Promise<string> =>
    JSON.stringify((await server.viewer.get(`/api${path}`).expect(200)).body)
  for (const path of ['/runs', `/runs?target=${encodeURIComponent(TARGET)}`, `/jobs/${job}`]) {
    expect(await read(path)).toContain(MASKED)
    expect(await read(path)).not.toContain('pa%40ss')
  }
  expect(await read('/event-logs')).not.toContain('pa%40ss')
  expect(await read(`/runs/${uuid}`)).toContain(TARGET)
})

test('the password of a target is masked in the answer about traffic to its host, also in commands', async () => {
  await server.operator
    .post('/api/runs')
    .send({ module: 'probe', target: TARGET, run_mode: 'local' })
    .expect(202)
  const [run] = await claimLocalRuns(server.runStore)
  if (run === undefined) throw new Error('the run was not claimed')
  const steps = [stepRecord({ command: `curl ${TARGET}` })]
  await endRun(server.runStore, run, {}, { steps, destinations: [{ host: 'example.com', place: 'target' }] })
  const { body } = await server.viewer.get('/api/traffic?address=example.com').expect(200)
  expect(body.data).toMatchObject([{ target: MASKED, steps: [{ command: `curl ${MASKED}` }] }])
})

test('passwords are masked in params and not part of workspace names', async () => {
  const params = { flags: '--proxy http://u:hidden@proxy:3128' }
  const created = await server.operator
    .post('/osm/api/runs')
    .send({ module: 'probe', target: TARGET, params })
    .expect(202)
  const { run_uuid: uuid, job_id: job } = created.body as { run_uuid: string; job_id: string }
  for (const path of ['/api/runs', '/osm/api/runs', `/osm/api/jobs/${job}`, '/api/workspaces']) {
    const text = JSON.stringify((await server.viewer.get(path).expect(200)).body)
    expect(text).not.toMatch(/hidden|pa%40ss|pa_40ss/)
  }
  const { data } = (await server.viewer.get(`/api/runs/${uuid}`).expect(200)).body
  expect(data).toMatchObject({ target: TARGET, params })
  const other = await server.operator
    .post('/api/runs')
    .send({ module: 'probe', target: TARGET.replace('pa%40ss', 'new') })
    .expect(202)
  const again = await server.viewer.get(`/api/runs/${other.body.run_uuid as string}`).expect(200)
  expect(again.body.data.workspace).toBe(data.workspace)
})

test('passwords of schedules are masked in the list, and kept when the list is sent back', async () => {
  const created = await server.admin
    .post('/api/schedules')
    .send({
      name: 'nightly',
      workflow_name: 'probe',
      schedule: '0 3 * * *',
      targets: [TARGET, 'b.test'],
      params: { flags: 'http://u:hidden@proxy' },
    })
    .expect(201)
  const { id } = created.body.data as { id: string }
  const list = (await server.viewer.get('/api/schedules').expect(200)).body.data as object[]
  expect(list).toMatchObject([{ targets: [MASKED, 'b.test'], params: { flags: 'http://u:***@proxy' } }])
  expect(JSON.stringify(list)).not.toMatch(/hidden|pa%40ss/)
  await server.admin
    .put(`/api/schedules/${id}`)
    .send({ ...list[0], schedule: '0 4 * * *' })
    .expect(200)
  const one = await server.viewer.get(`/api/schedules/${id}`).expect(200)
  expect(one.body.data).toMatchObject({
    schedule: '0 4 * * *',
    targets: [TARGET, 'b.test'],
    params: { flags: 'http://u:hidden@proxy' },
  })
})

test('a param that the workflow does not use causes a warning, and a misspelt one is refused', async () => {
  const send = async (params: Record<string, string>) =>
    await server.operator.post('/api/runs').send({ module: 'probe', target: 'a.test', params })
  const accepted = await send({ entirely_unknown: '1' })
  expect(accepted.status).toBe(202)
  expect((accepted.body as { warnings: unknown }).warnings).toEqual([
    {
      field: 'params.entirely_unknown',
      message: 'has no effect: the workflow probe does not use a param of that name',
    },
  ])
  const refused = await send({ flgs: '1' })
  expect(refused.status).toBe(400)
  expect(refused.body).toMatchObject({
    details: [
      { path: '/params/flgs', message: 'the workflow probe has no param flgs. Did you mean "flags"?' },
    ],
  })
})
