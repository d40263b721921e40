import { describe, expect, test } from '@jest/globals'
import type { EventEmitted } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { NEEDY, PROBE, testServer } from '../_server.ts'

const server = forAllTests(() =>
  testServer({ workflows: { 'probe.yaml': PROBE, 'needy.yaml': NEEDY, 'web.yaml': WEB, 'drop.yaml': DROP } }),
)

const WEB = `kind: module
name: web
dependencies: {target_types: [url]}
steps: [{name: see, type: bash, command: "echo {{Target}}"}]
`
/** Only the machine of the run can check whether the file exists. */
const DROP = `kind: module
name: drop
dependencies: {variables: [{name: Target, type: "domain, file"}]}
steps: [{name: see, type: bash, command: "echo {{Target}}"}]
`
const NIGHTLY = { name: 'nightly', workflow_name: 'probe', schedule: '0 3 * * *', target: 'a.test' }
const create = async (body: object) => await server.admin.post('/api/schedules').send(body)

describe('schedules', () => {
  test('a schedule is created, read, listed, changed and deleted', async () => {
    const created = await create({
      ...NIGHTLY,
      params: { depth: '2' },
      timezone: 'Europe/Berlin',
      overlap: 'skip',
    })
    expect(created.status).toBe(201)
    const { data } = created.body
    expect(created.body.message).toBe('Schedule created')
    expect(data).toMatchObject({
      id: expect.stringMatching(/^sch_/),
      ...NIGHTLY,
      workflow_kind: 'module',
      trigger_type: 'cron',
      trigger_name: 'nightly',
      params: { depth: '2' },
      input_config: { depth: '2', target: 'a.test' },
      overlap: 'skip',
      missed: 'once',
      is_enabled: true,
      last_run: null,
      next_run: expect.stringMatching(/T0[12]:00:00/),
      run_count: 0,
    })
    expect((await server.viewer.get(`/api/schedules/${data.id}`)).body.data).toEqual(data)

    const changed = await server.admin.put(`/api/schedules/${data.id}`).send({ schedule: '30 4 * * 1' })
    expect(changed.body.data).toMatchObject({
      schedule: '30 4 * * 1',
      params: { depth: '2' },
      overlap: 'skip',
    })
    const off = await server.admin.post(`/api/schedules/${data.id}/disable`)
    expect(off.body).toMatchObject({
      message: 'Schedule disabled',
      data: { is_enabled: false, next_run: null },
    })
    const on = await server.admin.post(`/api/schedules/${data.id}/enable`)
    expect(on.body).toMatchObject({ message: 'Schedule enabled', data: { is_enabled: true } })

    const list = await server.viewer.get('/api/schedules?limit=50')
    expect(list.body).toMatchObject({
      data: [{ id: data.id }],
      pagination: { total: 1, offset: 0, limit: 50 },
    })
    await server.admin
      .delete(`/api/schedules/${data.id}`)
      .expect(200, { message: 'Schedule deleted', id: data.id })
    for (const path of [data.id, 'sch_none', '7'])
      expect((await server.viewer.get(`/api/schedules/${path}`)).status).toBe(404)
  })

  test('a target of a type that the workflow does not accept is refused', async () => {
    const mismatch = (target: string) =>
      `target type mismatch: supplied ${target} (detected domain), expected type url`
    const web = { ...NIGHTLY, workflow_name: 'web' }
    const several = { ...web, target: undefined, targets: ['https://a.test', 'https://a.test', 'b.test'] }
    for (const when of [{}, { trigger_type: 'event', event_topic: 'custom.x' }]) {
      const one = await create({ ...web, ...when })
      expect(one.status).toBe(400)
      expect(one.body.details).toEqual([{ path: '/target', message: mismatch('a.test') }])
      const list = await create({ ...several, ...when })
      expect(list.body.details).toEqual([{ path: '/targets/2', message: mismatch('b.test') }])
      const fitting = await create({ ...web, ...when, target: 'https://a.test' })
      expect(fitting.status).toBe(201)
      const changed = await server.admin
        .put(`/api/schedules/${fitting.body.data.id}`)
        .send({ target: 'a.test' })
      expect(changed.body.details).toEqual([{ path: '/target', message: mismatch('a.test') }])
      await server.admin.delete(`/api/schedules/${fitting.body.data.id}`).expect(200)
    }
    const repeated = { module: 'web', target: 'a.test', schedule: '0 3 * * *' }
    const run = await server.admin.post('/api/runs').send(repeated)
    expect(run.body.details).toEqual([{ path: '/target', message: mismatch('a.test') }])
    const both = { module: 'web', targets: several.targets, schedule: '0 3 * * *' }
    const runs = await server.admin.post('/api/runs').send(both)
    expect(runs.body.details).toEqual([{ path: '/targets/2', message: mismatch('b.test') }])
    const dropped = await create({ ...NIGHTLY, workflow_name: 'drop', target: '10.0.0.1' })
    expect(dropped.status).toBe(201)
    await server.admin.delete(`/api/schedules/${dropped.body.data.id}`).expect(200)
  })

  test('a schedule starts runs on request that refer to it', async () => {
    const { data } = (await create({ ...NIGHTLY, overlap: 'skip', enabled: false })).body
    const answer = await server.operator.post(`/api/schedules/${data.id}/trigger`)
    expect(answer.status).toBe(202)
    expect(answer.body).toMatchObject({
      message: 'Schedule triggered',
      schedule: 'nightly',
      workflow: 'probe',
    })
    const { body } = await server.viewer.get(answer.body.poll_url)
    const run = await server.viewer.get(`/api/runs/${body.runs[0].run_uuid}`)
    expect(run.body.data).toMatchObject({
      target: 'a.test',
      trigger_type: 'cron',
      trigger_name: 'nightly',
      schedule_id: data.id,
    })
    expect((await server.viewer.get(`/api/schedules/${data.id}`)).body.data).toMatchObject({
      run_count: 1,
      last_run: expect.any(String),
    })
    const again = await server.operator.post(`/api/schedules/${data.id}/trigger`)
    expect(again.status).toBe(409)
    await server.admin.delete(`/api/schedules/${data.id}`).expect(200)
  })

  test('an event schedule receives its topic as soon as it exists', async () => {
    const created = await create({
      name: 'on build',
      workflow_name: 'probe',
      trigger_type: 'event',
      event_topic: 'custom.*',
      filters: ['event.data.ok'],
      input: { target: 'event_data.host' },
    })
    expect(created.status).toBe(201)
    const emit = async (data: object): Promise<string[]> => {
      const { body } = await server.operator.post('/api/events/emit').send({ topic: 'custom.built', data })
      return (body as EventEmitted).triggered_workflows
    }
    expect(await emit({ ok: true, host: 'b.test' })).toEqual(['probe'])
    expect(await emit({ ok: false, host: 'b.test' })).toEqual([])
    await server.admin.delete(`/api/schedules/${created.body.data.id}`).expect(200)
    expect(await emit({ ok: true, host: 'b.test' })).toEqual([])
  })

  test.each([
    ['no cron expression', { ...NIGHTLY, schedule: '' }, '/schedule', 'is required'],
    [
      'a bad cron expression',
      { ...NIGHTLY, schedule: '61 * * * *' },
      '/schedule',
      'is not a cron expression',
    ],
    ['a day that never comes', { ...NIGHTLY, schedule: '0 3 30 2 *' }, '/schedule', 'never comes'],
    ['six fields', { ...NIGHTLY, schedule: '0 0 3 * * *' }, '/schedule', 'has 6 fields'],
    ['an unknown time zone', { ...NIGHTLY, timezone: 'Mars/Base' }, '/timezone', 'is not a time zone'],
    ['an unsafe target', { ...NIGHTLY, target: 'a;b' }, '/target', 'may contain ; only'],
    [
      'an unsafe target of several',
      { ...NIGHTLY, target: undefined, targets: ['a.test', 'a;b'] },
      '/targets/1',
      'may contain ; only',
    ],
    [
      'a large param',
      { ...NIGHTLY, params: { list: 'x'.repeat(65_537) } },
      '/params/list',
      'at most 65536 bytes',
    ],
    [
      'an input under a bad name',
      { ...NIGHTLY, input: { 'a b': 'event_data.x' } },
      '/input',
      'the name of a param',
    ],
    ['no target', { ...NIGHTLY, target: '' }, '/target', 'contains no target'],
    ['no topic', { ...NIGHTLY, trigger_type: 'event' }, '/event_topic', 'is required'],
    [
      'a relative path',
      { ...NIGHTLY, trigger_type: 'watch', watch_path: 'x/*' },
      '/watch_path',
      'must be absolute',
    ],
    ['a bad duration', { ...NIGHTLY, missed_window: 'soon' }, '/missed_window', 'is not a duration'],
    ['a jitter of more than a day', { ...NIGHTLY, jitter: '25h' }, '/jitter', 'longer than 24h'],
    ['a missing param', { ...NIGHTLY, workflow_name: 'needy' }, '/params/wordlist', 'required'],
    ['an unknown field', { ...NIGHTLY, scedule: 'x' }, '/scedule', 'not a known field'],
  ])('a schedule is refused with %s', async (_, body, path, message) => {
    const { status, body: answer } = await create(body)
    expect(status).toBe(400)
    expect(answer.details[0]).toMatchObject({ path, message: expect.stringContaining(message) })
  })

  test('a schedule for an unknown workflow is refused', async () => {
    expect((await create({ ...NIGHTLY, workflow_name: 'nothing' })).status).toBe(404)
  })
})
