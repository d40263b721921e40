import { existsSync } from 'node:fs'
import type { Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeAll, describe, expect, test } from '@jest/globals'
import {
  call,
  expectRefusal,
  farm,
  nextCursorOf,
  recordsOf,
  watchFarm,
  type Answer,
} from '../farm/attacked-farm.ts'
import { connectRaw } from '../farm/raw.ts'
import { lintModule, runToEnd, sendWorkflow, stepNamed, submit, uploadModule } from '../farm/runs.ts'
import { documentedBounds, ROOT, TESTED_BY } from '../hostile/bounds.ts'

const KIB = 1024
const MIB = 1024 * KIB
const CONTINUE = [{ action: 'continue' }]

beforeAll(async () => {
  await uploadModule('bounded', { steps: [{ name: 'show', type: 'bash', command: 'echo {{Target}}' }] })
})

describe('docs/limits.md', () => {
  const rows = documentedBounds()

  test('Each limit in docs/limits.md has a test', () => {
    expect(rows.length).toBeGreaterThan(60)
    const begins = Object.keys(TESTED_BY)
    expect(rows.filter((row) => !begins.some((begin) => row.startsWith(begin)))).toEqual([])
    expect(begins.filter((begin) => !rows.some((row) => row.startsWith(begin)))).toEqual([])
  })

  test('The tests of all limits exist', () => {
    expect(Object.values(TESTED_BY).filter((file) => !existsSync(join(ROOT, file)))).toEqual([])
  })
})

const params = (count: number, size = 1): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, 'x'.repeat(size)]))
const start = (given: Record<string, string>): Promise<Answer> =>
  submit({ module: 'bounded', target: 'bounded.test', params: given })

describe('params of a run', () => {
  test.each([
    ['200 params', params(200)],
    ['a name of 128 characters', { ['n'.repeat(128)]: 'x' }],
    ['a value of 64 KiB', params(1, 64 * KIB)],
    ['250 KiB together', params(5, 50 * KIB)],
  ])('Params within the limit are accepted: %s', async (_name, given) => {
    expect((await start(given)).status).toBe(202)
  })

  test.each([
    ['201 params', params(201)],
    ['a name of 129 characters', { ['n'.repeat(129)]: 'x' }],
    ['a value over 64 KiB', params(1, 64 * KIB + 1)],
    ['over 256 KiB together', params(6, 50 * KIB)],
    ['60,000 params', params(60_000)],
    ['a megabyte of quotes', { p: '\'"'.repeat(MIB / 2) }],
  ])('Params beyond the limit are refused: %s', async (_name, given) => {
    const answer = await start(given)
    expectRefusal(answer, 400, 413)
    expect(answer.text).toContain('params')
  })

  test('Refused params do not delay other runs', async () => {
    expect((await runToEnd({ module: 'bounded' })).status).toBe('completed')
  })
})

describe('bodies and events', () => {
  const emit = (size: number): Promise<Answer> =>
    call('post', '/events/emit', { body: { topic: 'custom.large', data: { text: 'x'.repeat(size) } } })

  test('An event of 60 KiB is accepted, and larger ones are refused', async () => {
    expect((await emit(60 * KIB)).status).toBe(200)
    for (const size of [65 * KIB, 2 * MIB, 16 * MIB]) expectRefusal(await emit(size), 400, 413)
  })

  test('A page of large events ends at its limit of bytes, and its cursor continues', async () => {
    for (let sent = 0; sent < 250; sent += 25)
      await Promise.all(Array.from({ length: 25 }, () => emit(60 * KIB)))
    let cursor = ''
    let seen = 0
    for (let page = 0; page < 10 && seen < 250; page++) {
      const answer = await call('get', `/event-logs?topic=custom.large&limit=10000${cursor}`)
      expect(answer.status).toBe(200)
      expect(answer.text.length).toBeLessThan(20 * MIB)
      seen += recordsOf(answer).length
      const next = nextCursorOf(answer)
      if (next === undefined) break
      cursor = `&cursor=${encodeURIComponent(next)}`
    }
    expect(seen).toBeGreaterThanOrEqual(250)
  })

  test('Slow readers of event streams do not fill the memory of the master', async () => {
    const sockets: Socket[] = []
    for (let opened = 0; opened < 20; opened++) {
      const socket = await connectRaw()
      socket.write(
        `GET /api/events/stream HTTP/1.1\r\nHost: farm\r\nAuthorization: Bearer ${farm.tokens.viewer}\r\n\r\n`,
      )
      socket.pause()
      sockets.push(socket)
    }
    for (let sent = 0; sent < 200; sent += 20)
      await Promise.all(Array.from({ length: 20 }, () => emit(60 * KIB)))
    await delay(2_000)
    for (const socket of sockets) socket.destroy()
    // `watchFarm` checks the memory.
    expect((await call('get', '/runs')).status).toBe(200)
  })

  test('A caller with many event streams leaves streams for other callers', async () => {
    const open = (token: string): Promise<Response> =>
      fetch(`${farm.url}/api/events/stream`, {
        headers: { authorization: `Bearer ${token}` },
        signal: AbortSignal.timeout(120_000),
      })
    const greedy = await Promise.all(Array.from({ length: 130 }, () => open(farm.tokens.viewer)))
    const other = await open(farm.tokens.operator)
    expect(greedy.filter(({ status }) => status === 429 || status === 503).length).toBeGreaterThan(0)
    expect(other.status).toBe(200)
    await Promise.all([...greedy, other].map(async ({ body }) => await body?.cancel()))
  })
})

const lintText = (yaml: string): Promise<Answer> =>
  call('post', '/workflows/lint', {
    token: farm.tokens.viewer,
    headers: { 'content-type': 'application/octet-stream' },
    body: yaml,
  })
const stepsOf = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({
    name: `s${index}`,
    type: 'bash',
    command: `echo {{v${index}}} {{Target}}`,
    depends_on: index === 0 ? [] : [`s${index - 1}`],
  }))

describe('workflow files', () => {
  test('A workflow of 8,000 steps is checked in seconds without delaying other requests', async () => {
    const began = performance.now()
    let ended = false
    const lint = lintModule({ steps: stepsOf(8_000) }).finally(() => (ended = true))
    let slowest = 0
    while (!ended) {
      const asked = performance.now()
      await call('get', '/health', { token: '' })
      slowest = Math.max(slowest, performance.now() - asked)
      await delay(20)
    }
    await lint.catch((error: unknown) => expect(String(error)).toMatch(/lint returned 4\d\d/))
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(slowest).toBeLessThan(2_000)
  })

  test.each([
    ['10,001 steps', { steps: stepsOf(10_001) }],
    [
      'an expression of 32,769 characters',
      { steps: [{ name: 'a', type: 'function', function: `log_info("${'x'.repeat(32_769)}")` }] },
    ],
    ['70 levels', { steps: [], help: JSON.parse(`${'{"usage":'.repeat(70)}1${'}'.repeat(70)}`) as object }],
  ])('A workflow with %s is refused', async (_name, fields) => {
    const { valid, problems } = await lintModule(fields)
    expect(valid).toBe(false)
    expect(problems.length).toBeGreaterThan(0)
  })

  test('A workflow with more values than the limit through aliases is refused', async () => {
    const lists = `x-list: &l [${'x,'.repeat(9_999)}x]\nparams: [{name: p, default: [${'*l,'.repeat(9)}*l]}]`
    const answer = await lintText(`kind: module\nname: aliases\n${lists}\nsteps: []\n`)
    expect(recordsOf<{ rule: string }>(answer, 'problems').map(({ rule }) => rule)).toContain('too-big')
  })

  test('The check of a workflow returns at most a thousand problems', async () => {
    const lines = Array.from({ length: 9_000 }, (_, index) => `wrong${index}: 1`).join('\n')
    const answer = await lintText(`kind: module\nname: wrong\nsteps: []\n${lines}`)
    expect(recordsOf(answer, 'problems').length).toBeLessThanOrEqual(1_001)
    expect(answer.text.length).toBeLessThan(2 * MIB)
  })

  test('A workflow of more than a megabyte is refused', async () => {
    expectRefusal(await lintText(`kind: module\n#${' '.repeat(MIB)}`), 413)
    expectRefusal(await sendWorkflow(`kind: module\n#${' '.repeat(MIB)}`, 'large.yaml'), 413)
  })
})

describe('expressions', () => {
  test('A slow filter of a schedule does not stop the master', async () => {
    const body = {
      name: 'bomb',
      trigger_type: 'event',
      event_topic: 'custom.bomb',
      filters: ['(() => { for (;;) {} })()'],
      workflow_name: 'bounded',
      workflow_kind: 'module',
      target: 'a.test',
    }
    const made = await call('post', '/schedules', { body })
    expect(made.status).toBeLessThan(300)
    const began = performance.now()
    await call('post', '/events/emit', { body: { topic: 'custom.bomb', data: { text: 'a' } } })
    expect(performance.now() - began).toBeLessThan(10_000)
    const [schedule] = recordsOf<{ id: string }>(await call('get', '/schedules'))
    await call('delete', `/schedules/${schedule?.id}`)
  })

  test('Slow expressions of a step end within their timeout and do not delay other runs', async () => {
    const bombs: Record<string, string> = {
      loop: '(function () { while (true) {} })()',
      memory: '(function () { const all = []; while (true) all.push("x".repeat(1000000)) })()',
      recursion: '(function f() { return f() + 1 })()',
      'text of a gigabyte': '"x".repeat(1000000000).length',
    }
    const module = await uploadModule('bombs', {
      steps: Object.entries(bombs).map(([name, code]) => ({
        name,
        type: 'function',
        function: code,
        timeout: '5s',
        on_error: CONTINUE,
      })),
    })
    const [run, other] = await Promise.all([runToEnd({ module }), runToEnd({ module: 'bounded' })])
    expect(other.status).toBe('completed')
    for (const name of ['loop', 'memory', 'recursion']) expect(stepNamed(run, name).status).toBe('failed')
  })

  test('A slow template ends within its timeout', async () => {
    const many = Array.from({ length: 300 }, (_, index) => index).join(',')
    const loops = `{% set l = "${many}"|split:"," %}${'{% for a in l %}'.repeat(5)}x${'{% endfor %}'.repeat(5)}`
    const module = await uploadModule('loops', {
      steps: [{ name: 'loops', type: 'bash', command: `echo {{Target}} ${loops}`, timeout: '20s' }],
    })
    expect(stepNamed(await runToEnd({ module }), 'loops').status).toBe('failed')
  })

  test('Output of hundreds of megabytes does not fill the memory of the worker', async () => {
    const module = await uploadModule('flood', {
      steps: [{ name: 'flood', type: 'bash', command: 'head -c 200000000 /dev/zero | tr "\\0" x; echo end' }],
    })
    const run = await runToEnd({ module })
    expect(run.status).toBe('completed')
    expect(stepNamed(run, 'flood').output.length).toBeLessThan(2 * MIB)
  })
})

watchFarm()
