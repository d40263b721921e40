import { randomUUID } from 'node:crypto'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const needing = (name: string, tools: string) => `kind: module
name: ${name}
dependencies: {commands: [${tools}]}
steps: [{name: one, type: bash, command: echo}]
`

const server = forAllTests(() =>
  testServer({
    master: true,
    workflows: {
      'web.yaml': needing('web', 'httpx, nuclei, nmap'),
      'ports.yaml': needing('ports', 'nmap'),
      'own.yaml': needing('own', 'nmap, own-scanner'),
      'boxed.yaml': `${needing('boxed', 'nmap')}runner: docker\nrunner_config: {image: alpine}\n`,
      'chosen.yaml': `kind: flow
name: chosen
params: [{name: deep, type: bool, default: false}]
modules:
  - {name: ports, path: ports.yaml}
  - {name: web, path: web.yaml, condition: '{{deep}}'}
`,
    },
  }),
)

const post = (body: object, status = 202) =>
  server.operator
    .post('/api/runs')
    .send({ target: 'example.com', run_mode: 'distributed', ...body })
    .expect(status)

const join = async (...tools: string[]): Promise<() => Promise<unknown>> => {
  const workerId = randomUUID()
  await server.runStore.join({
    workerId,
    name: tools.join('-'),
    hostname: 'test',
    pid: 1,
    version: '0',
    kind: 'worker',
    slots: 1,
    capabilities: tools.map((tool) => `tool:${tool}`),
    leaseMs: 60_000,
  })
  return async () => await server.runStore.leave(workerId)
}

describe('a distributed run that no live worker can take', () => {
  test('waits with a warning that no worker is connected', async () => {
    const { body } = await post({ module: 'ports' })
    expect(body).toMatchObject({
      status: 'queued',
      warnings: [
        {
          field: 'missing_tools',
          message:
            'no worker is connected; the runs need one with nmap; the runs wait until one joins: start one with "scanfarm worker"',
        },
      ],
    })
  })

  test('waits with a warning that names the programs that are missing', async () => {
    const leave = await join('nmap', 'httpx')
    const { body } = await post({ module: 'web' })
    expect(body.warnings).toHaveLength(1)
    expect(body.warnings[0].message).toMatch(
      /^no live worker has nuclei; the runs wait until one has: .*scanfarm tools install nuclei/,
    )
    const run = await server.viewer.get(`/api/runs/${body.run_uuid}`).expect(200)
    expect(run.body.data.waiting_reason).toBe('no live worker offers: tool:nuclei')
    await leave()
  })

  test('waits with a warning if the programs are on different workers', async () => {
    const leave = [await join('nmap', 'httpx'), await join('nuclei')]
    const { body } = await post({ module: 'web' })
    expect(body.warnings[0].message).toMatch(/^no live worker has all of httpx, nmap and nuclei; /)
    await Promise.all(leave.map((one) => one()))
  })

  test('is refused if the request asks for that', async () => {
    const leave = await join('nmap')
    const before = (await server.viewer.get('/api/runs')).body.pagination.total
    const { body } = await post({ module: 'web', missing_tools: 'fail' }, 409)
    expect(body).toMatchObject({
      error: true,
      code: 'missing_tools',
      details: [{ path: '/missing_tools', message: 'no live worker has httpx and nuclei' }],
    })
    expect(body.message).toMatch(/: on a worker, run "scanfarm tools install httpx nuclei"; or/)
    const own = await post({ module: 'own', missing_tools: 'fail' }, 409)
    expect(own.body.message).toMatch(/: on a worker, install own-scanner; or/)
    expect((await server.viewer.get('/api/runs')).body.pagination.total).toBe(before)
    const docker = await post({ module: 'boxed', missing_tools: 'fail' }, 409)
    expect(docker.body.message).toMatch(/^no live worker has docker: give a worker access to a docker engine/)
    await leave()
  })
})

describe('a distributed run that a live worker can take', () => {
  test('has no warning, and needs no programs of modules that do not run', async () => {
    const leave = await join('nmap')
    for (const body of [{ module: 'ports' }, { flow: 'chosen' }]) {
      const accepted = await post({ ...body, missing_tools: 'fail' })
      expect(accepted.body.warnings).toBeUndefined()
    }
    const deep = await post({ flow: 'chosen', params: { deep: 'true' }, missing_tools: 'fail' }, 409)
    expect(deep.body.details[0].message).toBe('no live worker has httpx and nuclei')
    await leave()
  })

  test('does not accept missing_tools silently in another mode', async () => {
    const { body } = await post({ module: 'ports', run_mode: 'local', missing_tools: 'fail' })
    expect(body.warnings).toEqual([
      { field: 'missing_tools', message: 'has no effect: only distributed runs wait for a worker' },
    ])
    await post({ module: 'ports', missing_tools: 'perhaps' }, 400)
  })
})
