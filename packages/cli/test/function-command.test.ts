import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { runCaptured } from './captured-terminal.ts'

const before = process.cwd()
let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-function-test-'))
  process.chdir(folder)
  writeFileSync('hosts.txt', 'a.example.com\nb.example.com\n')
})
afterAll(() => {
  process.chdir(before)
  rmSync(folder, { recursive: true })
})

const run = (...args: string[]) =>
  runCaptured(['function', ...args], { SCANFARM_DATA_DIR: folder, PATH: '/usr/bin:/bin' })

describe('scanfarm function eval', () => {
  test.each([
    [['trim("  a ")'], 'a\n'],
    [['-e', 'file_length("hosts.txt") + 1'], '3\n'],
    [['-t', 'example.com', '-p', 'n=7', '"{{Target}} {{n}} " + target'], 'example.com 7 example.com\n'],
    [['split("a,b", ",")'], '["a","b"]\n'],
    [['log_info("hi")'], '[INFO] hi\nhi\n'],
    [['read_file("nowhere")'], ''],
    [['exec_cmd("echo $((1 + 1))")'], '2\n'],
    [['fileLength("hosts.txt")'], '2\n'],
  ])('eval %j prints the value of the expression', async (args, out) => {
    expect(await run('eval', ...args)).toMatchObject({ code: 0, out })
  })

  test('eval --json prints nothing but the result to standard output', async () => {
    const { code, out, err } = await run('eval', '--json', 'log_info("hi") && jq("{}", ".a")')
    expect({ code, result: JSON.parse(out), err }).toEqual({
      code: 0,
      result: { result: null },
      err: '[INFO] hi\n',
    })
  })

  test('eval limits functions to the current folder and the paths of the settings', async () => {
    const { code, err } = await run('eval', 'save_content("x", "/etc/scanfarm-canary")')
    expect(code).toBe(1)
    expect(err).toMatch(/outside of the folders that a workflow may use[^]*runner\.paths/)
    expect(existsSync('/etc/scanfarm-canary')).toBe(false)
    expect(await run('eval', 'process.env')).toMatchObject({ code: 1, out: '' })
  })

  test('eval reports that functions of the database require a server', async () => {
    const { code, out, err } = await run('eval', 'db_total_urls("hosts.txt")')
    expect(code).toBe(0)
    expect(out).toBe('error: this function needs the database of a server; this run has none\n')
    expect(err).toContain('needs the database of a server')
  })

  test.each([
    [['no_such()'], 1, "'no_such' is not defined"],
    [['trim('], 1, 'SyntaxError'],
    [[], 2, 'give one expression'],
    [['1', '-e', '2'], 2, 'give one expression'],
    [['1', '-t', 'a b'], 2, 'target'],
  ])('eval %j fails with exit code %i', async (args, code, message) => {
    const { code: actual, err } = await run('eval', ...args)
    expect(actual).toBe(code)
    expect(err).toContain(message)
  })
})

describe('scanfarm function', () => {
  test('list prints every function, or those that contain a word', async () => {
    const all = JSON.parse((await run('list', '--json')).out) as { name: string }[]
    expect(all.length).toBeGreaterThan(225)
    const { out } = await run('list', 'grep_regex')
    expect(out).toMatch(/^FUNCTION +RESULT +DESCRIPTION\n/)
    expect(out).toContain('grep_regex_to_file(dest, source, pattern)')
    expect(out).not.toContain('trim(')
  })

  test('show prints one function, which can be named by an alias', async () => {
    expect((await run('show', 'fileLength')).out).toMatch(/^file_length\(path\) → number\n[^]*fileLength/)
    expect(await run('show', 'none')).toMatchObject({
      code: 2,
      err: expect.stringContaining('there is no function none'),
    })
  })
})
