import { describe, expect, test } from '@jest/globals'
import { topicGlob, type EventLogEntry, type ReceiverWorkflow, type Run } from '@scanfarm/contracts'
import { eventDraft } from '@scanfarm/store/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const onEvent = (
  name: string,
  more: string,
  input = '      target: event_data.host\n',
): string => `kind: module
name: ${name}
params:
  - name: note
triggers:
  - name: on-build
    on: event
    enabled: true
${more}    input:
${input}steps:
  - name: hello
    type: bash
    command: echo {{target}} {{note}}
`

const topic = (name: string, more = ''): string => `    event:\n      topic: ${name}\n${more}`

const WORKFLOWS = {
  'build.yaml': onEvent(
    'build',
    topic('custom.build'),
    '      target: event_data.host\n      note: event.data.note\n',
  ),
  'severe.yaml': onEvent(
    'severe',
    topic(
      'custom.severe',
      `      filters:\n        - event.data.level > 7\n        - event.data.kind === 'x'\n`,
    ),
  ),
  'loops.yaml': onEvent(
    'loops',
    topic('custom.odd', `      filters:\n        - "(() => { for (;;) {} })()"\n`),
  ),
  'throws.yaml': onEvent('throws', topic('custom.odd', `      filters:\n        - nothing.at.all\n`)),
  'sound.yaml': onEvent('sound', topic('custom.od*')),
  'once.yaml': onEvent(
    'once',
    topic('custom.once', `      dedupe_key: "{{event.data.host}}"\n      dedupe_window: 1h\n`),
  ),
  'sparing.yaml': onEvent(
    'sparing',
    `${topic('custom.spare', `      dedupe_key: "{{event.data.host}}"\n      dedupe_window: 1h\n`)}    overlap: skip\n`,
  ),
  'asset.yaml': onEvent('asset', topic('assets.new')),
  'skipping.yaml': onEvent('skipping', `${topic('custom.overlap')}    overlap: skip\n`),
  'queueing.yaml': onEvent('queueing', `${topic('custom.overlap')}    overlap: queue\n`),
  'replacing.yaml': onEvent('replacing', `${topic('custom.overlap')}    overlap: cancel-previous\n`),
  'nightly.yaml': `kind: module
name: nightly
triggers:
  - name: every-night
    on: cron
    schedule: "0 3 * * *"
    timezone: Europe/Berlin
    input:
      target: example.com
  - name: drop
    on: watch
    enabled: true
    path: /srv/targets/*.txt
steps:
  - name: hello
    type: bash
    command: echo {{target}}
`,
}

const server = forAllTests(() => testServer({ workflows: WORKFLOWS }))

const emit = async (topicName: string, data: unknown) =>
  await server.operator.post('/api/events/emit').send({ topic: topicName, data })
const dataOf = async <T>(path: string, query: object): Promise<T[]> => {
  const { body } = await server.viewer.get(path).query(query)
  return (body as { data: T[] }).data
}
const runsOf = (workflow: string): Promise<Run[]> =>
  dataOf('/api/runs', { workflow_name: workflow, limit: 100 })
const logOf = (topicName: string): Promise<EventLogEntry[]> => dataOf('/api/event-logs', { topic: topicName })

describe('POST /events/emit', () => {
  test('data above the limit of bytes is refused', async () => {
    const emit = (text: string) =>
      server.operator.post('/api/events/emit').send({ topic: 'custom.large', data: { text } })
    const around = 65_536 - JSON.stringify({ text: '' }).length
    const refused = await emit(`${'x'.repeat(around - 1)}ä`)
    expect(refused.status).toBe(413)
    expect(refused.body).toMatchObject({
      code: 'payload_too_large',
      details: [{ path: '/data', message: expect.stringContaining('has 65537 bytes of JSON') }],
    })
    expect((await emit(`${'x'.repeat(around - 2)}ä`)).status).toBe(200)
    const { body } = await server.viewer.get('/api/event-logs?topic=custom.large')
    expect(body.pagination.total).toBe(1)
  })

  test('the event starts the workflows of its topic with its data as target and params', async () => {
    const answer = await emit('custom.build', { host: 'a.example.com', note: 'fast' })
    expect(answer.status).toBe(200)
    expect(answer.body).toEqual({
      message: 'Event emitted successfully',
      topic: 'custom.build',
      event_id: expect.stringMatching(/^evt_[0-9a-f]{32}$/),
      triggered_workflows: ['build'],
      success: true,
    })
    const [run] = await runsOf('build')
    expect(run).toMatchObject({
      status: 'queued',
      target: 'a.example.com',
      params: { note: 'fast' },
      trigger_type: 'event',
      run_mode: 'local',
    })
    const detail = await server.viewer.get(`/api/runs/${run?.run_uuid}`)
    expect(detail.body.data).toMatchObject({ trigger_name: 'on-build', schedule_id: '' })
    const [entry] = await logOf('custom.build')
    expect(entry).toMatchObject({
      event_id: answer.body.event_id,
      source: 'api',
      data_type: 'custom',
      processed: true,
      error: '',
      run_id: '',
    })
    expect(JSON.parse(entry?.data ?? '')).toEqual({ host: 'a.example.com', note: 'fast' })
  })

  test('an event without a trigger returns a note and is logged as processed', async () => {
    const answer = await emit('custom.nobody', {})
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ triggered_workflows: [], note: expect.any(String) })
    expect(await logOf('custom.nobody')).toMatchObject([{ processed: true, error: '' }])
  })

  test('the filters of a trigger are evaluated', async () => {
    expect(
      (await emit('custom.severe', { level: 3, kind: 'x', host: 'a.test' })).body.triggered_workflows,
    ).toEqual([])
    expect(
      (await emit('custom.severe', { level: 9, kind: 'y', host: 'a.test' })).body.triggered_workflows,
    ).toEqual([])
    expect(
      (await emit('custom.severe', { level: 9, kind: 'x', host: 'a.test' })).body.triggered_workflows,
    ).toEqual(['severe'])
  })

  test('a filter that does not end is stopped and reported, and other triggers start', async () => {
    const answer = await emit('custom.odd', { host: 'odd.test' })
    expect(answer.body.triggered_workflows).toEqual(['sound'])
    const [entry] = await logOf('custom.odd')
    expect(entry?.error).toContain('module/loops#on-build: the expression took longer than 1s')
    expect(entry?.error).toContain("module/throws#on-build: ReferenceError: 'nothing' is not defined")
  })

  test('an event fires once within a dedupe window', async () => {
    const names = []
    for (const host of ['a.test', 'a.test', 'b.test'])
      names.push((await emit('custom.once', { host })).body.triggered_workflows)
    expect(names).toEqual([['once'], [], ['once']])
  })

  test('an event that was skipped because of a running run keeps its dedupe key', async () => {
    expect((await emit('custom.spare', { host: 'a.test' })).body.triggered_workflows).toEqual(['sparing'])
    expect((await emit('custom.spare', { host: 'b.test' })).body.triggered_workflows).toEqual([])
    const [run] = await runsOf('sparing')
    await server.operator.delete(`/api/runs/${run?.id}`).expect(200)
    expect((await emit('custom.spare', { host: 'a.test' })).body.triggered_workflows).toEqual([])
    expect((await emit('custom.spare', { host: 'b.test' })).body.triggered_workflows).toEqual(['sparing'])
  })

  test('an event gets the data type of its topic, and asset topics have two names', async () => {
    const answer = await emit('asset.discovered', { host: 'new.test' })
    expect(answer.body.triggered_workflows).toEqual(['asset'])
    expect(await logOf('asset.discovered')).toMatchObject([{ source: 'api', data_type: 'asset' }])
    expect((await emit('assets.new', { host: 'new.test' })).body.triggered_workflows).toEqual(['asset'])
  })

  test('the event log filters by topic globs like triggers', async () => {
    const topics = [
      'glob.a',
      'glob.b',
      'glob.-',
      'glob.ab',
      'glob.A',
      'glob.\\',
      'glob.^',
      'glob.(a)',
      'glob.é',
      'xglob.a',
    ]
    for (const topic of topics) await server.store.triggers.record(eventDraft(topic))
    const globs = ['glob.*', 'glob.?', 'glob.[a-b]', 'glob.[!a-b]', 'glob.[a-]', 'glob.[a-b-é]', 'glob.[\\^]']
    for (const glob of [
      ...globs,
      '*.a',
      'glob.(*)',
      'glob.[é-ü]',
      'gl?b.?',
      '*b*.**a*',
      'glob.[!]',
      'glob.[',
      'glob.[]*',
    ]) {
      const wanted = topics.filter(topicGlob(glob)).sort()
      const found = (await logOf(glob)).map((entry) => entry.topic)
      expect([glob, found.filter((name) => name.includes('glob.')).sort()]).toEqual([glob, wanted])
    }
    for (const path of ['/api/event-logs', '/api/events/stream']) {
      const refused = await server.viewer.get(path).query({ topic: 'glob.[b-a]*' })
      expect(refused.status).toBe(400)
      expect(refused.body.message).toContain('is not a shell glob')
    }
  })

  test('the overlap policy applies while the previous run has not ended', async () => {
    const first = await emit('custom.overlap', { host: 'o.test' })
    expect(first.body.triggered_workflows).toEqual(['queueing', 'replacing', 'skipping'])
    const second = await emit('custom.overlap', { host: 'o.test' })
    expect(second.body.triggered_workflows).toEqual(['queueing', 'replacing'])
    const statuses = async (name: string) => (await runsOf(name)).map(({ status }) => status)
    expect(await statuses('skipping')).toEqual(['queued'])
    expect(await statuses('queueing')).toEqual(['pending', 'queued'])
    expect(await statuses('replacing')).toEqual(['queued', 'cancelled'])

    expect(await server.store.triggers.startWaiting(10)).toBe(0)
    const [, running] = await runsOf('queueing')
    await server.operator.delete(`/api/runs/${running?.id}`).expect(200)
    expect(await server.store.triggers.startWaiting(10)).toBe(1)
    expect(await statuses('queueing')).toEqual(['queued', 'cancelled'])
  })

  test('data with too deep nesting is refused', async () => {
    const deep = '{"a":'.repeat(1_001) + '1' + '}'.repeat(1_001)
    const answer = await server.operator
      .post('/api/events/emit')
      .set('Content-Type', 'application/json')
      .send(`{"topic": "custom.none", "data": ${deep}}`)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain('arrays or objects')
  })

  test('hostile data is treated as data', async () => {
    const hostile = {
      host: 'x.test',
      quotes: `'"\`$(touch /tmp/pwned)\n{{7*7}} \\`,
      nested: JSON.parse('{"__proto__": {"polluted": true}, "constructor": {"prototype": 1}}'),
      nul: 'a\0b',
      big: 'x'.repeat(60_000),
    }
    const answer = await emit('custom.build', hostile)
    expect(answer.body.triggered_workflows).toEqual(['build'])
    const [entry] = await logOf('custom.build')
    const kept = JSON.parse(entry?.data ?? '')
    expect(kept.quotes).toBe(hostile.quotes)
    expect(kept.big).toHaveLength(60_000)
    expect(Object.keys(kept.nested)).toEqual(['__proto__', 'constructor'])
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined()
  })

  test('the source of the caller is stored, with api as default', async () => {
    const send = (more: object) =>
      server.operator
        .post('/api/events/emit')
        .send({ topic: 'custom.sourced', data: {}, ...more })
        .expect(200)
    for (const more of [{ source: 'simple-emitter' }, { source: '' }, {}]) await send(more)
    expect((await logOf('custom.sourced')).map(({ source }) => source)).toEqual([
      'api',
      'api',
      'simple-emitter',
    ])
  })

  test.each([
    ['a target with a command in it', { host: 'x.test;$(id)' }, 'target: a target must not contain'],
    ['a target that is an option', { host: '--version' }, 'must not begin with "-"'],
    ['no target', {}, 'target: contains no target'],
  ])('an event with %s starts nothing, and the event log has the reason', async (_, data, reason) => {
    const before = (await runsOf('build')).length
    const answer = await emit('custom.build', data)
    expect(answer.body.triggered_workflows).toEqual([])
    expect(await runsOf('build')).toHaveLength(before)
    const [entry] = await logOf('custom.build')
    expect(entry?.error).toContain(reason)
  })

  test.each([
    ['without data', { topic: 'custom.x' }, '/data'],
    ['with data that is no object', { topic: 'custom.x', data: 'text' }, '/data'],
    ['without a topic', { data: {} }, '/topic'],
    ['with a topic that is no word', { topic: 'a b', data: {} }, '/topic'],
    ['with the source of runs', { topic: 'custom.x', data: {}, source: 'executor' }, '/source'],
    ['with the source of the scheduler', { topic: 'custom.x', data: {}, source: ' Scheduler' }, '/source'],
    ['with a source of two lines', { topic: 'custom.x', data: {}, source: 'a\nb' }, '/source'],
  ])('a body %s is refused', async (_, body, path) => {
    const answer = await server.operator.post('/api/events/emit').send(body)
    expect(answer.status).toBe(400)
    expect(answer.body.details).toMatchObject([{ path }])
  })
})

describe('the event receiver', () => {
  test('the status shows the loaded triggers', async () => {
    const { status, body } = await server.viewer.get('/api/event-receiver/status')
    expect(status).toBe(200)
    expect(body).toEqual({
      enabled: true,
      running: false,
      triggers: { cron: 0, event: 11, watch: 1 },
      workflows_loaded: 12,
      workflow_count: 12,
      trigger_count: 12,
      last_event_at: expect.any(String),
    })
  })

  test('workflows are listed with their triggers, including the next run of disabled ones', async () => {
    const { body } = await server.viewer.get('/api/event-receiver/workflows')
    expect(body.count).toBe(12)
    const nightly = (body as { data: ReceiverWorkflow[] }).data.find(({ name }) => name === 'nightly')
    expect(nightly).toEqual({
      name: 'nightly',
      kind: 'module',
      triggers: [
        {
          name: 'every-night',
          type: 'cron',
          enabled: false,
          schedule: '0 3 * * *',
          timezone: 'Europe/Berlin',
          next_run: expect.stringMatching(/T0[12]:00:00/),
        },
        { name: 'drop', type: 'watch', enabled: true, path: '/srv/targets/*.txt' },
      ],
    })
  })

  test('triggers whose runs would wait for missing local slots are listed with the problem', async () => {
    const trigger = (name: string, more: string) =>
      `  - {name: ${name}, on: cron, schedule: '0 3 * * *'${more}}\n`
    await using slotless = await testServer({
      settings: { 'local.slots': 0 },
      workflows: {
        'w.yaml': `kind: module\nname: w\ntriggers:\n${trigger('plain', '')}${trigger('here', ', run_mode: local')}${trigger('there', ', run_mode: distributed')}steps: [{name: a, type: bash, command: echo}]\n`,
      },
    })
    const { body } = await slotless.viewer.get('/api/event-receiver/workflows')
    const [{ triggers } = { triggers: [] }] = (body as { data: ReceiverWorkflow[] }).data
    const waits = expect.stringContaining('set local.slots to 1 or more')
    expect(triggers.map(({ name, problem }) => [name, problem])).toEqual([
      ['plain', waits],
      ['here', waits],
      ['there', undefined],
    ])
  })

  test('all three paths answer 503 while the event receiver is disabled', async () => {
    await using off = await testServer({ settings: { 'scheduler.enabled': false }, workflows: WORKFLOWS })
    for (const path of ['/api/event-receiver/status', '/api/event-receiver/workflows'])
      expect((await off.viewer.get(path)).status).toBe(503)
    const answer = await off.operator.post('/api/events/emit').send({ topic: 'custom.x', data: {} })
    expect(answer.status).toBe(503)
    expect(answer.headers).toHaveProperty('retry-after', '60')
    expect(answer.body).toMatchObject({ error: true, message: expect.stringContaining('scheduler.enabled') })
  })
})
