import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const TYPED = `kind: module
name: typed
params:
  - { name: count, type: int, min: 1, max: 9, default: 2 }
  - { name: level, type: choice, choices: [low, high], multiple: true }
  - { name: file, type: path }
  - { name: flags, type: args }
  - { name: odd, type: number, default: 10m }
  - { name: needed, required: true }
triggers:
  - name: main
    on: event
    enabled: true
    event: { topic: custom.typed }
    input: { target: event_data.host, count: event_data.count, needed: event_data.host }
steps:
  - { name: say, type: bash, command: "tool {{count}} {{level}} {{file}} {{flags}} {{odd}} {{needed}}" }
`

const server = forAllTests(() =>
  testServer({
    workflows: {
      'typed.yaml': TYPED,
      'around.yaml': 'kind: flow\nname: around\nmodules: [{ name: typed, path: typed.yaml }]\n',
    },
  }),
)

const submit = (params: object, flow = false) =>
  server.operator.post('/api/runs').send({
    [flow ? 'flow' : 'module']: flow ? 'around' : 'typed',
    target: 'a.test',
    params: { needed: 'x', ...params },
  })

describe('param types', () => {
  test.each([
    ['count', '3 touch x', 'expected a whole number from 1 to 9'],
    ['level', '-code', 'expected one of low, high, or several of them with commas between them'],
    ['file', '-rf', 'expected a path'],
    ['flags', "it's", 'every quote must be closed'],
  ])('a submitted run is checked: %s', async (name, value, expected) => {
    for (const flow of [false, true]) {
      const { status, body } = await submit({ [name]: value }, flow)
      expect(status).toBe(400)
      expect(body).toMatchObject({
        error: true,
        details: [{ path: `/params/${name}`, message: expect.stringContaining(expected) }],
      })
      expect(body.details[0].message).toContain(JSON.stringify(value))
    }
  })

  test('valid values are accepted, and all values of an unknown type', async () => {
    const params = { count: '9', level: 'high,low', file: 'a b', flags: '-a "b c"', odd: '-x "y' }
    expect((await submit(params)).status).toBe(202)
    expect((await submit(params, true)).status).toBe(202)
  })

  test('param types are listed with the workflow', async () => {
    const { body } = await server.viewer.get('/api/workflows?limit=50&search=typed')
    const listed = body as { data: { name: string; params: unknown }[] }
    const typed = listed.data.find(({ name }) => name === 'typed')
    expect(typed?.params).toEqual([
      { name: 'count', type: 'int', default: 2, required: false, description: '', min: 1, max: 9 },
      {
        name: 'level',
        type: 'choice',
        default: null,
        required: false,
        description: '',
        choices: ['low', 'high'],
        multiple: true,
      },
      { name: 'file', type: 'path', default: null, required: false, description: '' },
      { name: 'flags', type: 'args', default: null, required: false, description: '' },
      { name: 'odd', type: 'string', default: '10m', required: false, description: '' },
      { name: 'needed', type: 'string', default: null, required: true, description: '' },
    ])
  })

  test.each([
    ['cron', { schedule: '0 3 * * *', target: 'a.test' }],
    ['event', { trigger_type: 'event', event_topic: 'custom.x', input: { needed: 'event_data.host' } }],
    ['watch', { trigger_type: 'watch', watch_path: '/srv/x', target: 'a.test' }],
  ])('a schedule with trigger_type %s is checked when it is created or changed', async (_, trigger) => {
    const params = 'trigger_type' in trigger ? { count: '3 x' } : { count: '3 x', needed: 'x' }
    const body = { name: 's', workflow_name: 'typed', ...trigger, params }
    const refused = await server.admin.post('/api/schedules').send(body)
    expect(refused.status).toBe(400)
    expect(refused.body.details).toEqual([
      { path: '/params/count', message: '"3 x" does not fit: expected a whole number from 1 to 9' },
    ])
    const made = await server.admin
      .post('/api/schedules')
      .send({ ...body, params: { ...params, count: '3' } })
    expect(made.status).toBe(201)
    const changed = await server.admin.put(`/api/schedules/${made.body.data.id}`).send({ params })
    expect(changed.status).toBe(400)
    await server.admin.delete(`/api/schedules/${made.body.data.id}`)
  })

  test('a trigger is checked when an event arrives: it starts nothing and the event log has the reason', async () => {
    const emit = async (count: unknown) => {
      const data = { host: 'a.test', count }
      const { body } = await server.operator.post('/api/events/emit').send({ topic: 'custom.typed', data })
      const log = await server.viewer.get('/api/event-logs?topic=custom.typed&limit=1')
      return { started: body.triggered_workflows, error: log.body.data[0].error }
    }
    expect(await emit(3)).toEqual({ started: ['typed'], error: '' })
    for (const count of ['3 touch x', 10, [3], { a: 1 }, true]) {
      const { started, error } = await emit(count)
      expect(started).toEqual([])
      expect(error).toContain('params/count: ')
      expect(error).toContain('does not fit: expected a whole number from 1 to 9')
    }
  })
})
