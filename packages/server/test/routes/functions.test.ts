import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { testServer, type TestServer } from '../_server.ts'

let server: TestServer
let lists = ''
beforeAll(async () => {
  lists = join('/tmp', `scanfarm-lists-${process.pid}`)
  await mkdir(lists, { recursive: true })
  await writeFile(join(lists, 'hosts.txt'), 'a.example\n\nb.example\n')
  server = await testServer({ settings: { 'target_file.folders': [lists] } })
  // The time of the first evaluation includes the start of its thread, which exceeds the limit on a busy machine.
  await until(async () => (await evaluate({ script: '1' })).status === 200)
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const evaluate = (body: object) => server.operator.post('/osm/api/functions/eval').send(body)

describe('GET /functions/list', () => {
  test('GET /functions/list lists all functions with parameters and results', async () => {
    const { body } = await server.viewer.get('/osm/api/functions/list').expect(200)
    expect(body.total).toBe(body.functions.length)
    expect(body.functions).toContainEqual({
      name: 'trim(text)',
      function: 'trim',
      parameters: '(text)',
      description: expect.any(String),
      return_type: 'text',
      example: 'trim(text)',
      tags: ['text'],
      aliases: [],
      eval: true,
    })
    expect(body.functions).toContainEqual(expect.objectContaining({ function: 'exec_cmd', eval: false }))
  })
})

describe('POST /functions/eval', () => {
  test('an evaluation returns the result, the script with its values and the printed output', async () => {
    const { body } = await evaluate({
      script: 'log_info("at {{target}}"); trim("  {{target}} ") + depth',
      target: 'a.example',
      params: { depth: '2' },
    }).expect(200)
    expect(body).toEqual({
      result: 'a.example2',
      rendered_script: 'log_info("at a.example"); trim("  a.example ") + depth',
      output: '[INFO] at a.example\n',
    })
  })

  test('values are inserted as values, never as code', async () => {
    const target = '"); while(true){} ("'
    const { body } = await evaluate({ script: 'len("{{target}}")', target }).expect(200)
    expect(body.result).toBe(target.length)
  })

  test('files below target_file.folders can be read', async () => {
    const script = `file_length("${lists}/hosts.txt")`
    expect((await evaluate({ script }).expect(200)).body.result).toBe(2)
  })

  test('a function that fails returns the same value as in a run', async () => {
    const script = `[read_file("${lists}/none.txt"), read_lines(""), file_length(""), match("a", "("), is_true("yes")]`
    expect((await evaluate({ script }).expect(200)).body.result).toEqual(['', [], 0, false, true])
  })

  test.each([
    ['/etc/passwd', ''],
    ['/usr/share/../../etc/passwd', ''],
    ['/usr/share/base-passwd/passwd.master', ''],
    ['{{target}}/../../etc/passwd', 'lists'],
  ])('the file %s outside the folders answers 400', async (path, target) => {
    const { body } = await evaluate({
      script: `read_file("${path}")`,
      target: target === '' ? '' : lists,
    }).expect(400)
    expect(body.message).toContain('target_file.folders')
  })

  test.each([
    'exec_cmd("id")',
    'execCmd("id")',
    'exec_python("print(1)")',
    'os_getenv("PATH")',
    'http_get("http://127.0.0.1/")',
    'save_content("x", "/tmp/x")',
    'rm_rf("/tmp/x")',
    'db_select_assets("w", "json")',
    'run_module("probe", "a.example")',
    'llm_invoke("hello")',
    'ssh_exec("h", "id")',
    'jq("{}", ".")',
    'sleep(1)',
    'true ? 1 : exec_cmd("id")',
  ])('a call of %s answers 400 and names where it can be used', async (script) => {
    const { body } = await evaluate({ script }).expect(400)
    expect(body.details[0].path).toBe('/script')
    expect(body.message).toContain('use it in a step of a workflow')
  })

  test.each([
    'this["exec_cmd"]("id")',
    'globalThis.exec_cmd("id")',
    'Function("return exec_cmd")()("id")',
    'process.env',
    'require("fs")',
    '(',
  ])('the unsupported script %s answers 400', async (script) => {
    await evaluate({ script }).expect(400)
  })

  test('an endless script answers 400, and other requests are answered meanwhile', async () => {
    let done = false
    const endless = evaluate({ script: 'while(true){ trim("a") }' })
      .expect(400)
      .then(({ body }) => {
        done = true
        return String(body.message)
      })
    // If the script blocked the server, it would end before these answers.
    for (let count = 0; count < 5; count++) await server.nobody.get('/api/health').expect(200)
    expect(done).toBe(false)
    expect(await endless).toContain('took longer than 5s')
  })

  test.each([
    ['memory', 'let a = []; while (true) a.push("x".repeat(1 << 20))'],
    ['a result', '"x".repeat(1 << 20)'],
    ['an argument', 'trim("x".repeat(1 << 20))'],
    ['an answer', 'replace("x".repeat(1 << 17), "x", "yyyyyyyy")'],
  ])('a script with %s above the limit answers 400', async (_what, script) => {
    await evaluate({ script }).expect(400)
  })

  test('output above the limit is dropped', async () => {
    const { body } = await evaluate({
      script: 'for (let i = 0; i < 20; i++) printf("x".repeat(100000)); 1',
    }).expect(200)
    expect(body.output).toHaveLength(262_144)
  })

  test.each(['throw new Error("x".repeat(2e7))', 'throw "x".repeat(2e7)', 'trim("x".repeat(2e7))'])(
    'the error of %s has at most 64 Ki characters',
    async (script) => {
      const { body } = await evaluate({ script }).expect(400)
      expect(body.message.length).toBeLessThan(70_000)
      expect(body.details[0].message.length).toBeLessThan(70_000)
    },
  )

  test('a fifth concurrent evaluation answers 503 with Retry-After', async () => {
    const script = 'let end = Date.now() + 1500; while (Date.now() < end) {} 1'
    const answers = await Promise.all(Array.from({ length: 8 }, () => evaluate({ script })))
    const refused = answers.filter(({ status }) => status === 503)
    expect(refused.length).toBeGreaterThan(0)
    expect(refused[0]?.headers['retry-after']).toBe('5')
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0)
  })

  test('a script of more than 32,768 characters answers 400, and a body of more than 256 KiB 413', async () => {
    await evaluate({ script: ' '.repeat(32_769) }).expect(400)
    await evaluate({ script: ' '.repeat(300_000) }).expect(413)
  })
})
