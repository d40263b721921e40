// exclusive: machine
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from '@jest/globals'
import { Engine } from '../../src/engine.ts'
import { lint, type Json } from '@scanfarm/language'
import { TriggerLanguage, type TriggerEvent } from '../../src/trigger/language.ts'
import { longestDelay } from '../harness/event-loop.ts'
import { useRuns } from '../harness/runs.ts'
import { FUNCTIONS } from '@scanfarm/functions'

const { run, folder } = useRuns()
const engine = new Engine({ limits: { timeMs: 500, resultChars: 1 << 20 } })
const language = new TriggerLanguage(engine)
afterAll(async () => await engine[Symbol.asyncDispose]())

/** Without the bounds these take from a second to hours. Other tests run on the same processors. */
/** The limit is 500 ms; without it, the expression would not end. */
const MAX_LATE_MS = 20_000
const MAX_DELAY_MS = 1000

const eventOf = (data: Record<string, Json>): TriggerEvent => ({
  topic: 't', id: '1', name: 'n', source: 's', data_type: 'd', data, workspace: '', run_uuid: '', workflow_name: '', timestamp: '',
}) // prettier-ignore

const many = (text: string, count: number): string => text.repeat(count)
const list = Array.from({ length: 9000 }, () => 1)

describe('a trigger with a hostile event', () => {
  test.each<[string, Record<string, Json>]>([
    ['match(event_data.a, "(?i)A!$")', { a: many('a!', 100_000) }],
    ['"x".repeat(1e9)', {}],
    ['"x".repeat(3e6)', {}],
    ['trim("x".repeat(3e6))', {}],
    ['replace(event_data.a, "", event_data.a)', { a: many('x', 1 << 17) }],
    ['join(split(event_data.a, "x"), event_data.a)', { a: many('x', 1 << 17) }],
    ['for (;;) {}', {}],
    ['Array.from({length: 3e6}, (_, i) => String(i * 7919 % 3e6)).sort().length', {}],
    ['parse_float(event_data.a)', { a: `${many('1', 1 << 17)}x` }],
    ['path_replace(event_data.a, event_data.b, 0)', { a: many('a/', 4000), b: many('x', 1 << 17) }],
    ['query_replace(event_data.a, event_data.b)', { a: `?${many('a=1&', 4000)}`, b: many('x', 1 << 17) }],
    ['parse_url(event_data.a, event_data.b)', { a: `http://h/${many('p', 1 << 17)}`, b: many('%p', 4000) }],
    ['trim_string(event_data.a, event_data.b)', { a: many('b', 1 << 18), b: `${many('a', 1 << 18)}b` }],
  ])('lets the process serve others while it evaluates %s', async (source, data) => {
    const delay = await longestDelay(async () => {
      await language.value(source, eventOf(data), new AbortController().signal).catch(() => undefined)
    })
    expect(delay).toBeLessThan(MAX_DELAY_MS)
  })

  test('a trigger expression that does not end is stopped at its time limit', async () => {
    const began = performance.now()
    const late = language.value('(() => { for (;;) {} })()', eventOf({}), new AbortController().signal)
    await expect(late).rejects.toThrow('the expression took longer than 0.5s')
    expect(performance.now() - began).toBeLessThan(MAX_LATE_MS)
  })

  test.each<[string, Record<string, Json>, string | RegExp]>([
    ['{{ event_data.a | striptags }}', { a: `<b>x</b>${many('<', 1 << 18)}` }, `x${many('<', 1 << 18)}`],
    ['{{ event_data.a == event_data.b }}', { a: `${many('1', 1 << 18)}x`, b: 1 }, 'false'],
    ['{{ event_data.a == 1 }}', { a: ' 1. ' }, 'true'],
    [
      `{% set a = event_data.a %}${many('{% set a = a + a %}', 40)}{{ a }}`,
      { a: 'xx' },
      /at most 16777216 characters/,
    ],
    [
      '{% for i in event_data.l %}{{ event_data.a }}{% endfor %}',
      { l: list, a: many('x', 1 << 18) },
      /at most 16777216 characters/,
    ],
    [
      '{{ event_data.l | join:event_data.a }}',
      { l: list, a: many('x', 1 << 18) },
      /at most 16777216 characters/,
    ],
    ['{{ event_data.a | split:"" }}', { a: many('x', 1 << 18) }, /at most 100000 parts/],
    [
      '{% for i in event_data.l %}{{ event_data.a.b }}{% endfor %}',
      { l: list, a: JSON.stringify({ b: 'y', c: many('x', 1 << 18) }) },
      many('y', 9000),
    ],
    [
      '{% for i in event_data.l %}{{ event_data.a | length }}{% endfor %}',
      { l: list, a: many('x', 1 << 20) },
      /longer than 0.5s/,
    ],
    [
      '{{ event_data.a | removetags:event_data.b }}',
      { a: many('<a', 1 << 17), b: Array.from({ length: 20_000 }, (_, index) => `a${index}`).join(',') },
      many('<a', 1 << 17),
    ],
    [`{{ 1 | stringformat:event_data.a }}`, { a: `%${many('0', 1 << 17)}` }, `%${many('0', 1 << 17)}`],
    [
      '{{ event_data.a | first }}{{ event_data.a | last }}{{ event_data.a | length }}',
      { a: '😀b😀' },
      '😀😀3',
    ],
  ])('renders %s within bounds', async (template, data, expected) => {
    let answer = ''
    const delay = await longestDelay(async () => {
      try {
        answer = language.text(template, eventOf(data))
      } catch (error) {
        answer = String(error)
      }
    })
    if (typeof expected === 'string') expect(answer === expected).toBe(true)
    else expect(answer).toMatch(expected)
    expect(delay).toBeLessThan(MAX_DELAY_MS)
  })
})

describe('texts of an author', () => {
  test.each<[string, (text: string) => Promise<unknown>, string]>([
    [
      'an input of a trigger',
      (text) => language.input(text, eventOf({}), new AbortController().signal),
      `trim(${many('`\\\\', 1 << 16)}`,
    ],
    [
      'an export',
      async (text) =>
        lint(
          `kind: module\nname: x\nsteps: [{name: a, type: bash, command: x, exports: {a: "${text}"}}]`,
          'x',
          FUNCTIONS,
        ),
      `f()${many(' ', 1 << 17)}x`,
    ],
    [
      'a long word',
      async (text) =>
        lint(
          `kind: module\nname: x\nsteps: [{name: a, type: bash, command: x, exports: {a: "${text}"}}]`,
          'x',
          FUNCTIONS,
        ),
      many('a', 1 << 17),
    ],
  ])('are read in time that grows with their length: %s', async (_what, read, text) => {
    const delay = await longestDelay(async () => void (await read(text).catch(() => undefined)))
    expect(delay).toBeLessThan(MAX_DELAY_MS)
  })
})

describe('functions', () => {
  test('functions limit the size of what they build from texts and files', async () => {
    const output = mkdtempSync(join(folder(), 'bounds-'))
    const write = (name: string, text: string): void => writeFileSync(join(output, name), text)
    write('blank.md', many('\n', 1 << 20))
    write('calls.md', many('`1`{.func}', 1001))
    write('report.md', 'a `1 + 1`{.func} b\n```func\n"$&"\n```\nc')
    write('columns.jsonl', Array.from({ length: 1001 }, (_, index) => `{"k${index}":1}`).join('\n'))
    write('text', many('x', 1 << 21))
    const calls = [
      'render_markdown_from_file("blank.md").length',
      'render_markdown_report("calls.md", "out.md")',
      'render_markdown_report("report.md", "out.md") && read_file("out.md")',
      'jsonl_to_csv("columns.jsonl", "out.csv")',
      'convert_jsonl_to_markdown("columns.jsonl", "out.md")',
      'replace(read_file("text"), "x", "0123456789")',
      'split(read_file("text"), "")',
    ]
    const steps = calls.map((call, index) => ({
      name: `s${index}`,
      type: 'function',
      function: call,
      on_error: [{ action: 'continue' }],
    }))
    let got: string[] = []
    const delay = await longestDelay(async () => {
      const { recorder } = await run(`kind: module\nname: main\nsteps: ${JSON.stringify(steps)}\n`, {
        folders: { output, temp: join(output, 'tmp') },
      })
      got = recorder.steps.map(({ errorMessage, output: text }) => errorMessage || text.trim())
    })
    expect(got).toEqual([
      String(1 << 20),
      'a template may hold at most 1000 expressions',
      'a 2 b\n$&\nc',
      'more than 1000 different keys',
      'a table may have at most 100 columns',
      'the text would have more than 16777216 characters',
      'the text has more than 1000000 parts',
    ])
    expect(delay).toBeLessThan(MAX_DELAY_MS)
  })
})
