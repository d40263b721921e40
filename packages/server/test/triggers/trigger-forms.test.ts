import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import type { EventDraft } from '@scanfarm/store'
import { eventDraft } from '@scanfarm/store/testing'
import { openTriggerHarness, NEVER, type TriggerHarness } from './_trigger-harness.ts'

/** Triggers of one workflow each, in the forms of Osmedeus files. */
const workflow = (name: string, trigger: string, uses = 'echo {{target}}'): string => `kind: module
name: ${name}
params:
  - {name: domain, default: example.net}
  - {name: asset_type, default: any}
triggers:
  - name: main
    on: event
    enabled: true
${trigger.replaceAll(/^/gm, '    ')}
steps:
  - {name: hello, type: bash, command: '${uses}'}
`

const on = (topic: string, input: string): string => `event: {topic: ${topic}}\ninput: ${input}`
const plain = 'date'

const harness = forAllTests(() =>
  openTriggerHarness({
    'absent.yaml': workflow(
      'absent',
      on('custom.absent', '{target: event_data.host, asset_type: event.type, more: event_data.a.b}'),
    ),
    'first.yaml': workflow(
      'first',
      on(
        'custom.first',
        '{Target: "pick_valid(event_data.sample, event_data.value) ", raw: event.data, n: 3}',
      ),
    ),
    'field.yaml': workflow('field', on('custom.field', '{type: event_data, field: repository.html_url}')),
    'named.yaml': workflow(
      'named',
      on('custom.named', '{type: event_data, field: kind, name: asset_type}'),
      plain,
    ),
    'call.yaml': workflow(
      'call',
      on('custom.call', `{type: function, function: 'jq("{{event.data}}", ".host")'}`),
    ),
    'file.yaml': workflow('file', on('custom.file', '{type: file, path: /srv/list.txt}')),
    'param.yaml': workflow('param', on('custom.param', '{type: param, name: domain}')),
    'own.yaml': workflow('own', on('custom.own', '{type: param, name: Target}')),
    'variables.yaml': workflow(
      'variables',
      on('custom.vars', '{type: event_data.kind, target: event_data.host}'),
    ),
    'plain.yaml': workflow('plain', 'event: {topic: custom.plain}', plain),
    'space.yaml': workflow('a plain one', 'event: {topic: custom.space}', plain),
    'needy.yaml': workflow('needy', 'event: {topic: custom.needy}'),
    'files.yaml': workflow(
      'files',
      `event: {topic: custom.files, filter_functions: ['file_exists("{{event.data.output_path}}/results.json")', "contains(event.data.url, '/api/')"]}`,
      plain,
    ),
    'refused.yaml': workflow(
      'refused',
      `event: {topic: custom.refused, filter_functions: ['exec_cmd("id") != ""']}`,
      plain,
    ),
    'dedupe.yaml': workflow(
      'dedupe',
      `event: {topic: custom.dedupe, dedupe_key: '{{event.source}}-{{event.data.template-id}}-{{event.data.host}}', dedupe_window: 1h}`,
      plain,
    ),
    'all.yaml': workflow('all', `event: {topic: '*', filters: ['event.topic.startsWith("run.")']}`, plain),
  }),
)
let master: Awaited<ReturnType<TriggerHarness['master']>>
beforeAll(async () => {
  master = await harness.master()
})

const fire = (topic: string, data: object, more: Partial<EventDraft> = {}): Promise<string[]> =>
  master.emit(eventDraft(topic, data, more), NEVER)
const lastRun = async (name: string): Promise<Record<string, unknown> | undefined> =>
  (await harness.store.runs.list({ workflowName: name }, { offset: 0, limit: 1 })).data.map(
    ({ target, workspace, params }) => ({ target, workspace, params }),
  )[0]
const errorOf = async (topic: string): Promise<unknown> =>
  (await harness.sql(`select error from event_logs where topic = '${topic}' order by id desc limit 1`))[0]?.[
    'error'
  ]

describe('the input of a trigger', () => {
  test.each<[string, string, object, object]>([
    [
      'what the event lacks is ""',
      'absent',
      { host: 'a.test' },
      { target: 'a.test', params: { asset_type: '', more: '' } },
    ],
    [
      'calls of the library',
      'first',
      { value: 'v.test' },
      { target: 'v.test', params: { raw: '{"value":"v.test"}', n: '3' } },
    ],
    [
      'an older form: a field',
      'field',
      { repository: { html_url: 'https://a.test/x' } },
      { target: 'https://a.test/x', params: {} },
    ],
    [
      'an older form: a field for a param',
      'named',
      { kind: 'url' },
      { target: '', params: { asset_type: 'url' } },
    ],
    ['an older form: a function', 'call', { host: 'c.test' }, { target: 'c.test', params: {} }],
    ['an older form: a file', 'file', {}, { target: '/srv/list.txt', params: {} }],
    ['an older form: a param', 'param', {}, { target: 'example.net', params: {} }],
    ['an older form: the target itself', 'own', { target: 'o.test' }, { target: 'o.test', params: {} }],
    [
      'variables with names of the older forms',
      'variables',
      { kind: 'k', host: 'h.test' },
      { target: 'h.test', params: { type: 'k' } },
    ],
  ])('the input form %s is mapped', async (_, name, data, run) => {
    const topic = `custom.${name === 'variables' ? 'vars' : name}`
    const fired = await fire(topic, data)
    expect({ fired, error: await errorOf(topic) }).toEqual({ fired: [name], error: '' })
    expect(await lastRun(name)).toMatchObject(run)
  })
})

describe('a trigger without a target', () => {
  test('a workflow that needs no target starts in its own workspace', async () => {
    expect(await fire('custom.plain', {})).toEqual(['plain'])
    expect(await lastRun('plain')).toEqual({ target: '', workspace: 'plain', params: {} })
    expect(await fire('custom.space', {})).toEqual(['a plain one'])
    expect((await lastRun('a plain one'))?.['workspace']).toMatch(/^a_plain_one-[0-9a-f]{12}$/)
  })

  test('a workflow that needs a target does not start, and the reason is reported', async () => {
    expect(await fire('custom.needy', {})).toEqual([])
    expect(await errorOf('custom.needy')).toContain('target: contains no target')
  })
})

describe('functions in filters', () => {
  test('functions in filters read files of this server', async () => {
    const path = join(harness.folder, 'workspaces', 'w')
    const data = { output_path: path, url: 'https://a.test/api/x' }
    expect(await fire('custom.files', data)).toEqual([])
    await mkdir(path, { recursive: true })
    await writeFile(join(path, 'results.json'), '{}')
    expect(await fire('custom.files', data)).toEqual(['files'])
    expect(await fire('custom.files', { ...data, url: 'https://a.test/' })).toEqual([])
  })

  test('functions that need a run make the trigger invalid with the reason', async () => {
    const { broken } = await master.registry.current()
    expect(broken).toMatchObject([
      {
        workflow: { name: 'refused' },
        problem: expect.stringContaining('"exec_cmd" cannot be called by a trigger'),
      },
    ])
  })
})

test('a dedupe key may contain keys with hyphens', async () => {
  const send = async (id: string) => await fire('custom.dedupe', { 'template-id': id, host: 'h' })
  expect([await send('a'), await send('b'), await send('a')]).toEqual([['dedupe'], ['dedupe'], []])
})

const STARTED = '6f0e3a52-0d7c-4b43-9b43-1f2f6f0f2f11'

test('a trigger for all topics ignores runs of its own workflow and runs started by events', async () => {
  expect(await fire('run.started', {}, { workflow_name: 'all' })).toEqual([])
  expect(await fire('run.started', {}, { workflow_name: 'plain' })).toEqual(['all'])
  await harness.sql(`update runs set run_uuid = '${STARTED}' where workflow_name = 'plain'`)
  expect(await fire('run.started', {}, { workflow_name: 'plain', run_id: STARTED })).toEqual([])
})
