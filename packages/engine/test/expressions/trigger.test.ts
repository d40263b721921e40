import { chmodSync, linkSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Engine } from '../../src/engine.ts'
import { expressionProblems, type Json } from '@scanfarm/language'
import { TriggerLanguage, type TriggerEvent } from '../../src/trigger/language.ts'
import { FUNCTIONS } from '@scanfarm/functions'

const engine = new Engine()
let folder = ''
let language = new TriggerLanguage(engine)
const { signal } = new AbortController()

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-trigger-'))
  chmodSync(folder, 0o755)
  for (const path of ['workspaces/one', 'allowed', 'closed'])
    mkdirSync(join(folder, path), { recursive: true })
  write('workspaces/one/hits.txt', 'a\nb\n')
  write('allowed/list.txt', 'x\n')
  write('closed/secret.txt', 'secret\n')
  symlinkSync(join(folder, 'closed/secret.txt'), join(folder, 'workspaces/one/link.txt'))
  linkSync(join(folder, 'closed/secret.txt'), join(folder, 'workspaces/one/hard.txt'))
  language = new TriggerLanguage(engine, () => ({
    workspaces: join(folder, 'workspaces'),
    paths: [{ path: join(folder, 'allowed'), write: true }],
  }))
})
afterAll(async () => {
  await engine[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const write = (path: string, text: string): void => writeFileSync(join(folder, path), text)

const eventOf = (data: Record<string, Json>, more: Partial<TriggerEvent> = {}): TriggerEvent => ({
  topic: 'discovery.asset',
  id: 'evt_1',
  name: 'found',
  source: 'simple-emitter',
  data_type: 'subdomain',
  data,
  workspace: '',
  run_uuid: 'uuid',
  workflow_name: 'finder',
  timestamp: '2026-01-01T00:00:00Z',
  ...more,
})
const event = eventOf({ url: ' https://a.test/x.js ', 'template-id': 'CVE-1', deep: { a: 'b' }, list: ['p'] })

describe('an input of a trigger', () => {
  test.each<[string, Json]>([
    ['event_data.url', ' https://a.test/x.js '],
    ['event.data.deep.a', 'b'],
    ['event_data.template-id', 'CVE-1'],
    ['event_data.list[0]', 'p'],
    ['event_data.nothing', null],
    ['event_data.deep.a.b.c', null],
    ['event.type', null],
    ['event.topic.more', null],
    ['event.topic', 'discovery.asset'],
    ['event.source', 'simple-emitter'],
    ['event.name', 'found'],
    ['event.id', 'evt_1'],
    ['event.data_type', 'subdomain'],
    ['event.workspace', ''],
    ['event.run_uuid', 'uuid'],
    ['event.workflow_name', 'finder'],
    ['event.timestamp', '2026-01-01T00:00:00Z'],
    ['full', 'full'],
    ['example.com', 'example.com'],
    ['1.5', '1.5'],
    ['Mozilla/5.0 (X11; Linux)', 'Mozilla/5.0 (X11; Linux)'],
    ['trim(event_data.url)', 'https://a.test/x.js'],
    ['trim(event_data.url) + "?"', 'https://a.test/x.js?'],
    ['trim(event_data.a.b.c)', ''],
    ['trim(event.type)', ''],
    ['pick_valid(event_data.sample, event_data.value, event_data.deep.a) ', 'b'],
    ['trim_left(event.topic, "discovery.")', 'asset'],
    ['replace("event.topic", "event.", "")', 'topic'],
    ["jq(event_data, '.deep.a')", 'b'],
    ['jq("{{event.data}}", ".deep.a")', 'b'],
    ['to_upper_case(event_data.deep.a)', 'B'],
    ['{{event.source}}/{{event.data.template-id}}', 'simple-emitter/CVE-1'],
    ['', ''],
  ])('%s is %j', async (expression, value) => {
    expect(await language.input(expression, event, signal)).toEqual(value)
  })

  test('the event is data in trigger inputs and is never executed', async () => {
    const hostile = eventOf({ v: '"); exec_cmd("id"); ("' })
    expect(await language.input('trim(event_data.v)', hostile, signal)).toBe('"); exec_cmd("id"); ("')
  })
})

describe('a filter of a trigger', () => {
  test.each<[string, boolean]>([
    ["contains(event.data.url, '/x')", true],
    ["!ends_with(event.data.url, '.js ')", false],
    ["regex_match('^CVE-', event.data['template-id'])", true],
    ["starts_with('{{event.data.template-id}}', 'CVE')", true],
    ["event.type === undefined && event.source == 'simple-emitter'", true],
    ['is_url(trim(event_data.url)) && !is_empty(event_data.list)', true],
    ['len(event_data.list) == 1', true],
    ["get_types('10.0.0.0/8') == 'cidr'", true],
    ["match(event_data.url, '(')", false],
  ])('%s is %s', async (source, value) => {
    expect(await language.value(source, event, signal)).toBe(value)
  })

  test('a trigger filter can read files of workspaces and of the settings', async () => {
    const found = eventOf({
      output_path: join(folder, 'workspaces/one'),
      list: join(folder, 'allowed/list.txt'),
    })
    const value = async (source: string, about = found) => await language.value(source, about, signal)
    expect(await value('file_exists("{{event.data.output_path}}/hits.txt")')).toBe(true)
    expect(await value('file_exists("{{event.data.output_path}}/none.txt")')).toBe(false)
    expect(await value('file_length("{{event.data.output_path}}/none.txt")')).toBe(0)
    expect(await value('file_length("{{event.data.output_path}}/hits.txt") > 1')).toBe(true)
    expect(await value('file_length(event.data.list)')).toBe(1)
    expect(await value('file_exists("hits.txt")', eventOf({}, { workspace: 'one' }))).toBe(true)
    expect(await value('file_exists(event.data.nothing)')).toBe(false)
    expect(await value('read_file("{{event.data.output_path}}/none.txt")')).toBe('')
  })

  test.each(['closed/secret.txt', 'workspaces/one/../../closed/secret.txt', 'workspaces/one/link.txt'])(
    'a trigger filter cannot read other files: %s',
    async (path) => {
      const about = eventOf({ path: join(folder, path) })
      await expect(language.value('read_file(event.data.path)', about, signal)).rejects.toThrow(
        /outside of the folders|link out/,
      )
    },
  )

  // Only root reads more than the user of commands could.
  const asRoot = process.getuid?.() === 0 ? test : test.skip
  asRoot('reads no second name of a file of another user', async () => {
    const about = eventOf({ path: join(folder, 'workspaces/one/hard.txt') })
    await expect(language.value('read_file(event.data.path)', about, signal)).rejects.toThrow('hard link')
  })

  test.each(['exec_cmd("id")', 'remove_file("x")', 'http_get("http://x")', 'os_getenv("PATH")', 'sleep(1)'])(
    'a trigger filter refuses to call %s with the reason',
    async (source) => {
      await expect(language.value(source, event, signal)).rejects.toThrow('cannot be called by a trigger')
    },
  )
})

describe('the checker of a trigger', () => {
  test('the checker of a trigger reports functions that it cannot call, and accepts the others', () => {
    expect(
      expressionProblems(
        {
          event: {
            filters: ['event.data.level > 3', 'exec_cmd("id") == "x"', 'nothing_like_it(event)'],
            filter_functions: ['file_exists(event.data.x)', 'contains(event.data.url, "'],
            dedupe_key: '{{event.data.template-id}}-{{',
          },
          input: {
            asset_type: 'event.type',
            target: 'pick_valid(event_data.a, event_data.b)',
            list: 'http_get(event_data.url)',
            note: 'some (text) more',
          },
        },
        FUNCTIONS,
      ).map(({ path, message }) => [path.join('.'), message.replace(/^.*?: (.{0,45}).*$/, '$1')]),
    ).toEqual([
      ['event.filters.1', '"exec_cmd" cannot be called by a trigger, whi'],
      ['event.filters.2', 'there is no function "nothing_like_it"'],
      ['event.filter_functions.1', 'a text that begins with " has no end'],
      ['event.dedupe_key', '"{{" without "}}"'],
      ['input.asset_type', 'no event has this field, so that the input is'],
      ['input.list', '"http_get" cannot be called by a trigger, whi'],
    ])
  })
})

test('loading jq does not count as time of the filter', async () => {
  // Loading takes longer than this on any machine. On a busy one the filter may too, but not each time.
  const limits = { timeMs: 100 }
  const first = async (): Promise<string> => {
    await using fresh = new Engine({ limits })
    return (await fresh.jq.run('{"a": 1}', '.a', signal).catch(String)).trim()
  }
  let found = ''
  for (let attempt = 0; attempt < 20 && found !== '1'; attempt += 1) found = await first()
  expect(found).toBe('1')
  await using fast = new Engine({ limits })
  await expect(fast.jq.run('null', '[range(1e9)] | length', signal)).rejects.toThrow('took longer than 0.1s')
})
