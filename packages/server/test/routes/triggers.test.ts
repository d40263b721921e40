import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const WORKFLOWS = {
  'build.yaml': `kind: module
name: build
params: [{ name: note }]
triggers:
  - name: on-build
    on: event
    enabled: true
    overlap: skip
    event:
      topic: custom.*
      filters: ['event.data.level > 3', 'nothing.at.all || true', "event.data.kind === 'x'"]
      dedupe_key: '{{event.data.host}}'
      dedupe_window: 1h
    input: { target: event_data.host, note: event.data.kind }
  - name: at-night
    on: cron
    enabled: true
    schedule: '0 3 * * *'
    input: { target: b.test }
  - name: wrong
    on: watch
    path: relative/*.txt
steps:
  - { name: hello, type: bash, command: 'echo {{target}} {{note}}' }
`,
  'simple.yaml': `kind: module
name: simple
triggers:
  - name: any
    on: event
    enabled: true
    event: { topic: custom.simple, dedupe_key: '{{event.data.host}}', dedupe_window: 1h }
    overlap: skip
    input: { target: event_data.host }
steps:
  - { name: hello, type: bash, command: 'echo {{target}}' }
`,
}

const server = forAllTests(() => testServer({ workflows: WORKFLOWS }))

interface Listed {
  readonly data: readonly { name: string }[]
  readonly pagination: { readonly total: number }
}
const list = async (query = ''): Promise<Listed> =>
  (await server.viewer.get(`/api/triggers${query}`).expect(200)).body as Listed
const tested = async (body: object): Promise<readonly { key: string; name: string }[]> =>
  (await server.operator.post('/api/triggers/test').send(body).expect(200)).body.data as {
    key: string
    name: string
  }[]

describe('GET /triggers', () => {
  test('triggers of files and schedules are listed with their next and last executions', async () => {
    const made = await server.admin
      .post('/api/schedules')
      .send({ name: 'hourly', workflow_name: 'simple', schedule: '0 * * * *', target: 'c.test' })
      .expect(201)
    const { data, pagination } = await list()
    expect(pagination.total).toBe(5)
    expect(data.map(({ name }) => name)).toEqual(['at-night', 'on-build', 'wrong', 'any', 'hourly'])
    expect(data[0]).toMatchObject({
      key: 'module/build#at-night',
      source: 'workflow',
      schedule: '0 3 * * *',
      timezone: 'UTC',
      next_run: expect.stringMatching(/T03:00:00.000Z$/),
      last_fired_at: null,
      last_state: '',
    })
    expect(data[2]).toMatchObject({ enabled: false, problem: expect.stringContaining('must be absolute') })
    expect(data[4]).toMatchObject({ source: 'schedule', schedule_id: made.body.data.id, enabled: true })
    expect((await list('?type=event&limit=1')).pagination).toMatchObject({ total: 2, limit: 1 })
    expect((await list('?source=schedule')).data).toHaveLength(1)
    expect((await list('?enabled=false')).data).toHaveLength(1)
    const started = await server.operator.post(`/api/schedules/${made.body.data.id}/trigger`).expect(202)
    expect((await list('?source=schedule')).data[0]).toMatchObject({
      last_fired_at: expect.any(String),
      last_state: 'done',
      last_job_id: started.body.job_id,
    })
  })
})

describe('POST /triggers/test', () => {
  test('each filter has its result or error, and the run that would start is shown', async () => {
    const [one] = await tested({
      key: 'module/build#on-build',
      event: { topic: 'custom.one', data: { level: 9, kind: 'y', host: 'a.test' } },
    })
    expect(one).toMatchObject({
      name: 'on-build',
      topic: { pattern: 'custom.*', matches: true },
      filters: [
        { passed: true, result: true, error: '' },
        { passed: false, error: expect.stringContaining('nothing') },
        { passed: false, result: false, error: '' },
      ],
      dedupe: { key: 'a.test', window_ms: 3_600_000, blocked_until: null },
      overlap: { policy: 'skip', open: 0 },
      would_start: false,
      reasons: [expect.stringMatching(/^a filter failed: /), expect.stringMatching(/^a filter is false: /)],
      run: { workflow: 'build', targets: ['a.test'], target_count: 1, params: { note: 'y' } },
    })
    expect((await server.viewer.get('/api/runs?workflow=build').expect(200)).body.data).toEqual([])
  })

  test('an event that has fired blocks the same dedupe key, and its open runs block others', async () => {
    const event = { topic: 'custom.simple', data: { host: 'd.test' } }
    const [before] = await tested({ workflow: 'simple', trigger: 'any', event })
    expect(before).toMatchObject({ would_start: true, reasons: [], dedupe: { blocked_until: null } })
    await server.operator.post('/api/events/emit').send(event).expect(200)
    const [after] = await tested({ workflow: 'simple', trigger: 'any', event })
    expect(after).toMatchObject({
      would_start: false,
      dedupe: { blocked_until: expect.any(String) },
      overlap: { open: 1 },
      reasons: [expect.stringContaining('same dedupe key'), expect.stringContaining('not ended')],
    })
    expect(
      (await server.viewer.get('/api/triggers?workflow=simple&type=event').expect(200)).body.data,
    ).toMatchObject([{ last_state: 'open', last_job_id: expect.any(String) }])
  })

  test('without a trigger, all event triggers whose topic matches are tested', async () => {
    const results = await tested({ event: { topic: 'custom.simple', data: {} } })
    expect(results.map(({ key }) => key).sort()).toEqual(['module/build#on-build', 'module/simple#any'])
    expect(results.find(({ name }) => name === 'any')).toMatchObject({
      run: null,
      reasons: expect.arrayContaining([expect.stringMatching(/^the run cannot be planned: /)]),
    })
  })

  test('a cron trigger is tested without an event', async () => {
    const [one] = await tested({ workflow: 'build', trigger: 'at-night' })
    expect(one).toMatchObject({ would_start: true, run: { targets: ['b.test'] } })
  })

  test('unknown and invalid triggers are refused', async () => {
    const refused = (body: object) => server.operator.post('/api/triggers/test').send(body)
    await refused({ key: 'nothing' }).expect(404)
    const wrong = await refused({ workflow: 'build', trigger: 'wrong' }).expect(400)
    expect(wrong.body.message).toContain('must be absolute')
    await refused({ event: { topic: '*' } }).expect(400)
    await server.viewer.post('/api/triggers/test').send({}).expect(403)
  })
})
