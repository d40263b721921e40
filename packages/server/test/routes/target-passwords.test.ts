import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { testServer, type TestServer } from '../_server.ts'

let server: TestServer
beforeAll(async () => {
  server = await testServer()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

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
