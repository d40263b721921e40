import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { openRunQueue } from '@scanfarm/queue'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import SwaggerParser from '@apidevtools/swagger-parser'
import { PROBE, testServer } from '../_server.ts'
import { claimLocalRuns, endRun } from '../_worker.ts'

const server = forAllTests(() => testServer({ master: true }))

describe('GET /health', () => {
  test('GET /health answers 200 while the server is alive', async () => {
    expect((await server.nobody.get('/health').expect(200)).body).toEqual({ status: 'ok' })
  })
})

describe('GET /health/ready', () => {
  test('GET /health/ready answers 200 while database, artifact store and queue work', async () => {
    expect((await server.nobody.get('/health/ready').expect(200)).body).toEqual({
      status: 'ready',
      checks: { database: 'ok', artifacts: 'ok', queue: 'ok' },
    })
  })

  test('GET /health/ready answers 503 with the component that fails', async () => {
    await using broken = await testServer({ settings: { 'artifacts.folder': '/dev/null/nowhere' } })
    const response = await broken.nobody.get('/health/ready').expect(503)
    expect(response.body).toEqual({
      status: 'unavailable',
      checks: { database: 'ok', artifacts: 'unavailable' },
    })
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('GET /server-info', () => {
  test.each([
    '/api/server-info',
    '/osm/api/server-info',
    '/server-info',
    '/api/status',
    '/status',
    '/api/info',
    '/osm/server-info',
  ])('GET /server-info is available at %s without a token', async (path) => {
    const { body } = await server.nobody.get(path).expect(200)
    expect(body).toMatchObject({
      name: 'Scanfarm',
      version: '0.1.0',
      master: true,
      run_modes: ['local', 'distributed'],
    })
  })
})

describe('GET /metrics', () => {
  test('GET /metrics returns the Prometheus format to viewers', async () => {
    await server.viewer.get('/api/runs').expect(200)
    const { text } = await server.viewer
      .get('/metrics')
      .expect(200)
      .expect('Content-Type', /^text\/plain/)
    expect(text).toMatch(/scanfarm_http_request_seconds_count\{method="GET",route="\/runs"\} \d/)
    expect(text).toMatch(/scanfarm_http_requests_total\{method="GET",route="\/runs",status="200"\} \d/)
    await server.nobody.get('/metrics').expect(401)
  })
})

describe('GET /workers', () => {
  test('GET /workers lists workers, and GET /workers/{id} reads one', async () => {
    const workerId = randomUUID()
    await server.runStore.join({
      workerId,
      name: 'one',
      hostname: 'host',
      pid: 5,
      version: '1',
      kind: 'worker',
      slots: 4,
      capabilities: ['label:region=eu', 'tool:nmap', 'tool:unheard-of'],
      leaseMs: 20_000,
    })
    const { body } = await server.viewer.get('/api/workers').expect(200)
    expect(body.count).toBe((body.data as unknown[]).length)
    const worker = (body.data as { id: string }[]).find(({ id }) => id === workerId)
    expect(worker).toMatchObject({ name: 'one', slots: 4, status: 'idle', kind: 'worker', current_runs: [] })
    expect(worker).toMatchObject({ capabilities: ['label:region=eu', 'tool:nmap'] })
    const read = await server.viewer.get(`/api/workers/${workerId}`).expect(200)
    expect(read.body.data).toMatchObject({
      capabilities: ['label:region=eu', 'tool:nmap', 'tool:unheard-of'],
    })
    // Osmedeus clients read the fields of the worker at the top level.
    const { data, ...beside } = read.body as { data: object }
    expect(beside).toEqual(data)
    expect(data).toMatchObject({ current_task: '', tasks_complete: 0, tasks_failed: 0 })
  })

  test('GET /workers shows the counts and current runs of workers', async () => {
    for (const target of ['one.example', 'two.example', 'three.example'])
      await server.operator.post('/api/runs').send({ module: 'probe', target }).expect(202)
    const [one, two, three] = await claimLocalRuns(server.runStore)
    if (one === undefined || two === undefined || three === undefined)
      throw new Error('three runs were to be claimed')
    await endRun(server.runStore, one)
    await endRun(server.runStore, two, { status: 'failed' })
    const read = async () =>
      (await server.viewer.get(`/api/workers/${one.workerId}`).expect(200)).body as object
    expect(await read()).toMatchObject({ current_task: three.runUuid, tasks_complete: 1, tasks_failed: 1 })
    await endRun(server.runStore, three)
    expect(await read()).toMatchObject({ current_task: '', tasks_complete: 2, tasks_failed: 1 })
  })

  test('GET /workers/{id} answers 404 for an unknown worker', async () => {
    const { body } = await server.viewer.get('/api/workers/nope').expect(404)
    expect(body).toMatchObject({ code: 'not_found', message: 'there is no worker "nope"' })
  })
})

describe('POST /workers/{id}/drain', () => {
  const joined = async (kind: 'worker' | 'server'): Promise<string> => {
    const workerId = randomUUID()
    const intro = { name: kind, hostname: 'host', pid: 5, version: '1', slots: 2, capabilities: [] }
    await server.runStore.join({ ...intro, workerId, kind, leaseMs: 20_000 })
    return workerId
  }

  test('POST /workers/{id}/drain stores the request, signals the worker and shows it in the list', async () => {
    const id = await joined('worker')
    const signals: string[] = []
    await using queue = await openRunQueue(
      { kind: 'postgres', url: server.database.url },
      { farmId: await server.store.farmId(), role: 'worker', log: silentLogger },
    )
    await using _listening = await queue.onSignal(({ workerIds }) => signals.push(...workerIds))
    const { body } = await server.operator.post(`/api/workers/${id}/drain`).send({ stop: false }).expect(200)
    expect(body).toMatchObject({
      message: 'The worker drains and stays paused',
      data: { id, status: 'draining', wanted: 'paused', runs: [] },
    })
    await until(async () => (signals.includes(id) ? true : undefined), { what: 'the signal' })
    expect(await server.runStore.heartbeat(id, 0)).toMatchObject({ wanted: 'paused', runs: [] })
    await server.operator.post(`/api/workers/${id}/resume`).expect(200)
    expect(await server.runStore.heartbeat(id, 0)).toMatchObject({ wanted: 'running' })
    const stopped = await server.operator.post(`/api/workers/${id}/drain`).send({}).expect(200)
    expect(stopped.body).toMatchObject({ data: { wanted: 'stopped' } })
    const { body: list } = await server.viewer.get('/api/workers').expect(200)
    expect((list.data as { id: string }[]).find((worker) => worker.id === id)).toMatchObject({
      status: 'draining',
      wanted: 'stopped',
    })
    const refused = await server.operator.post(`/api/workers/${id}/resume`).expect(409)
    expect(refused.body).toMatchObject({
      code: 'wrong_state',
      message: 'this worker already stops: start it again when it has ended',
    })
    await server.runStore.leave(id)
  })

  test('A drain for a time is stored with its end, a later one replaces it, and others than durations are refused', async () => {
    const id = await joined('worker')
    const drain = (body: object) => server.operator.post(`/api/workers/${id}/drain`).send(body)
    for (const [body, message] of [
      [{ for: 'soon' }, '"soon" is not a duration up to 7d; for example: 30m, 2h, 1h30m'],
      [{ for: '8d' }, '"8d" is not a duration up to 7d'],
      [{ for: '0s' }, '"0s" is not a duration up to 7d'],
      [{ for: '2h', stop: false }, 'a paused worker waits for its runs without a limit'],
    ] as const) {
      const { body: refused } = await drain(body).expect(400)
      expect(refused.details).toEqual([{ path: '/for', message: expect.stringContaining(message) }])
    }
    const began = Date.now()
    const { body } = await drain({ for: '2h' }).expect(200)
    expect(Date.parse(body.data.drain_until) - began).toBeGreaterThan(7_000_000)
    const reply = await server.runStore.heartbeat(id, 0)
    expect(reply.wanted).toBe('stopped')
    expect(reply.drainMs).toBeGreaterThan(6_000_000)
    expect((await drain({}).expect(200)).body.data).toMatchObject({ wanted: 'stopped', drain_until: null })
    expect(await server.runStore.heartbeat(id, 0)).toMatchObject({ wanted: 'stopped', drainMs: 0 })
    await server.runStore.leave(id)
  })

  test('The slots of a server can be paused, which keeps local runs waiting, but not stopped', async () => {
    const id = await joined('server')
    const { body } = await server.operator.post(`/api/workers/${id}/drain`).send({}).expect(409)
    expect(body).toMatchObject({ code: 'conflict', message: expect.stringContaining('{"stop": false}') })
    await server.operator.post(`/api/workers/${id}/drain`).send({ stop: false }).expect(200)
    const { body: made } = await server.operator
      .post('/api/runs')
      .send({ module: 'probe', target: 'paused.example' })
      .expect(202)
    expect(await server.runStore.claimLocal(id, 10)).toEqual([])
    await server.operator.post(`/api/workers/${id}/resume`).expect(200)
    const [run] = await server.runStore.claimLocal(id, 10)
    expect(run).toMatchObject({ target: 'paused.example', jobId: made.job_id })
    const { body: read } = await server.viewer.get(`/api/workers/${id}`).expect(200)
    expect(read.runs).toMatchObject([{ target: 'paused.example', workflow_name: 'probe', attempt: 1 }])
    if (run) await endRun(server.runStore, run)
    await server.runStore.leave(id)
  })

  test('A drain needs an operator and a known worker that is not lost', async () => {
    await server.viewer.post('/api/workers/nope/drain').send({}).expect(403)
    await server.operator.post('/api/workers/nope/drain').send({}).expect(404)
    await server.operator.post('/api/workers/nope/drain').send({ force: true }).expect(400)
    const id = await joined('worker')
    const late = `update workers set lease_until = now() - interval '1 s' where id = $1`
    await server.database.sql(late, [id])
    const { body } = await server.operator.post(`/api/workers/${id}/drain`).send({}).expect(409)
    expect(body).toMatchObject({ code: 'wrong_state', message: expect.stringContaining('is lost') })
    await server.runStore.leave(id)
  })
})

describe('GET /registry-info', () => {
  test('GET /registry-info lists required programs and whether a worker has them', async () => {
    await using own = await testServer({
      workflows: {
        'a.yaml': PROBE.replace('steps:', 'dependencies: {commands: [nmap, httpx]}\nsteps:'),
        'b.yaml': PROBE.replace('name: probe', 'name: b').replace(
          'steps:',
          'dependencies: {commands: [nmap]}\nsteps:',
        ),
      },
    })
    await own.runStore.join({
      workerId: randomUUID(),
      name: 'one',
      hostname: 'host',
      pid: 5,
      version: '1',
      kind: 'worker',
      slots: 4,
      capabilities: ['tool:nmap'],
      leaseMs: 20_000,
    })
    const { body } = await own.viewer.get('/osm/api/registry-info?registry_mode=direct-fetch').expect(200)
    expect(body).toMatchObject({ registry_mode: 'direct-fetch', registry_url: '', nix_installed: false })
    expect(body.binaries.httpx).toEqual({
      desc: expect.stringContaining('probe'),
      installed: false,
      optional: false,
      workers: 0,
    })
    expect(body.binaries.nmap).toMatchObject({
      desc: expect.stringMatching(/\bb\b.*\bprobe\b/),
      installed: true,
      workers: 1,
    })
  })

  test('GET /registry-info answers 400 for another registry address', async () => {
    await server.viewer.get('/api/registry-info?registry_url=http://127.0.0.1/').expect(400)
  })
})

describe('GET /database/tables', () => {
  test('GET /database/tables counts the records of each table', async () => {
    const { body } = await server.viewer.get('/osm/api/database/tables').expect(200)
    const rows = Object.fromEntries(
      (body.data as { name: string; row_count: number }[]).map(({ name, row_count }) => [name, row_count]),
    )
    expect(Object.keys(rows)).toEqual(body.valid_tables)
    expect(rows).toMatchObject({ step_results: 0, schedules: 0 })
    const { body: runs } = await server.viewer.get('/api/runs').expect(200)
    expect(rows.runs).toBe(runs.pagination.total)
  })
})

describe('Osmedeus routes that are not supported', () => {
  test.each([
    ['/registry-install', { type: 'binary', names: ['nmap'] }],
    ['/database/tables/runs/clear', { force: true }],
    ['/agent/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  ])('an unsupported route answers 501 with the reason: %s', async (path, sent) => {
    for (const root of ['/api', '/osm/api']) {
      const { body } = await server.admin
        .post(root + path)
        .send(sent)
        .expect(501)
      expect(body).toMatchObject({ error: true, code: 'not_implemented' })
      expect(body.message.length).toBeGreaterThan(40)
      await server.viewer
        .post(root + path)
        .send(sent)
        .expect(403)
      await server.nobody
        .post(root + path)
        .send(sent)
        .expect(401)
    }
  })
})

describe('GET /event-logs', () => {
  let uuid = ''
  beforeAll(async () => {
    await server.operator.post('/api/runs').send({ module: 'probe', target: 'event.example' }).expect(202)
    const [run] = await claimLocalRuns(server.runStore)
    if (run === undefined) throw new Error('a run was to be claimed')
    uuid = run.runUuid
    await endRun(server.runStore, run)
  })

  test('GET /event-logs lists the events of a run, newest first', async () => {
    const { body } = await server.viewer.get(`/api/event-logs?run_id=${uuid}`).expect(200)
    expect((body.data as { topic: string }[]).map(({ topic }) => topic)).toEqual([
      'run.completed',
      'run.started',
    ])
    expect(body.data[0]).toMatchObject({
      id: expect.any(Number),
      event_id: expect.stringMatching(/^evt_/),
      source: 'executor',
      data_type: 'scan',
      data: expect.any(String),
      workspace: 'event.example',
      run_id: uuid,
      workflow_name: 'probe',
      processed: expect.any(Boolean),
      error: '',
      created_at: expect.stringMatching(/Z$/),
    })
    expect(() => JSON.parse(body.data[0].data as string) as unknown).not.toThrow()
    expect(body.pagination).toMatchObject({ total: 2, offset: 0, limit: 20 })
  })

  test('GET /event-logs filters by every field', async () => {
    const total = async (query: string): Promise<number> =>
      (await server.viewer.get(`/api/event-logs?${query}`).expect(200)).body.pagination.total as number
    for (const query of [
      `run_uuid=${uuid}&topic=run.completed`,
      `run_id=${uuid}&source=executor&topic=run.started`,
      'workspace=event.example&topic=run.started',
      'workflow_name=probe&topic=run.started&workspace=event.example',
      'workflow=probe&topic=run.started&workspace=event.example',
    ])
      expect(await total(query)).toBe(1)
    expect(await total('topic=none')).toBe(0)
    expect((await total('processed=true')) + (await total('processed=false'))).toBe(await total(''))
  })

  test.each(['processed=maybe', 'limit=0', 'offset=-1', 'colour=red'])(
    'GET /event-logs answers 400 for %s',
    async (query) => {
      await server.viewer.get(`/api/event-logs?${query}`).expect(400)
    },
  )
})

describe('documentation', () => {
  test.each(['/swagger', '/swagger/', '/swagger/index.html'])(
    'the documentation is available at %s',
    async (path) => {
      await server.nobody
        .get(path)
        .expect(200)
        .expect('Content-Type', /^text\/html/)
    },
  )

  test('the OpenAPI document is available at /swagger/doc.json', async () => {
    const { body } = await server.nobody.get('/swagger/doc.json').expect(200)
    expect(body.openapi).toBe('3.1.0')
  })
})

describe('GET /openapi.json', () => {
  test('the document is valid OpenAPI 3.1 and contains every route', async () => {
    const { body } = await server.nobody.get('/openapi.json').expect(200)
    const document = (await SwaggerParser.validate(structuredClone(body))) as { paths: object }
    expect(body.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining([
        '/runs',
        '/runs/{id}',
        '/jobs/{job_id}',
        '/upload-file',
        '/tokens/{id}',
        '/openapi.json',
      ]),
    )
    expect(body.paths['/runs'].post).toMatchObject({
      operationId: 'postRuns',
      requestBody: {
        content: { 'application/json': { schema: { $ref: '#/components/schemas/CreateRuns' } } },
      },
      responses: {
        202: expect.anything(),
        400: expect.anything(),
        401: expect.anything(),
        403: expect.anything(),
      },
    })
    expect(body.paths['/health'].get.security).toEqual([])
  })

  test('every operation has the error responses of all paths', async () => {
    const { body } = await server.nobody.get('/openapi.json').expect(200)
    type Operations = Record<string, { responses: Record<string, unknown> }>
    for (const operations of Object.values<Operations>(body.paths))
      for (const { responses } of Object.values(operations))
        expect(responses['default']).toEqual({ $ref: '#/components/responses/AnyError' })
    for (const response of Object.values(body.components.responses))
      expect(response).toEqual({
        description: expect.any(String),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/ErrorBody' } } },
      })
  })

  test('only text responses have the type string, not JSON, YAML or bytes', async () => {
    const { body } = await server.nobody.get('/openapi.json').expect(200)
    const { content } = body.paths['/workflows/{name}'].get.responses[200]
    expect(content['application/yaml'].schema).toEqual({})
    expect(body.paths['/openapi.json'].get.responses[200].content['application/json'].schema).toEqual({})
    expect(body.paths['/metrics'].get.responses[200].content['text/plain'].schema).toEqual({ type: 'string' })
  })

  test('every operation id is unique', async () => {
    const { body } = await server.nobody.get('/openapi.json').expect(200)
    const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap(
      (path) => Object.values(path).map(({ operationId }) => operationId),
    )
    expect(new Set(ids).size).toBe(ids.length)
  })
})

describe('GET /docs', () => {
  test('the page contains no scripts', async () => {
    const { text, headers } = await server.nobody
      .get('/docs')
      .expect(200)
      .expect('Content-Type', /^text\/html/)
    expect(text).toContain('/runs/{id}/artifacts')
    expect(text).not.toContain('<script')
    expect(headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/)
  })
})
