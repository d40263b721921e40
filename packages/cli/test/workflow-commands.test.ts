import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { runProgram } from '../src/index.ts'
import { captureTerminal, runCaptured } from './captured-terminal.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-cli-'))
  write('greet.yaml', GREET)
  write('bad.yaml', 'kind: module\nname: bad\nsteps:\n  - name: a\n    tipe: bash\n')
})
afterAll(() => rmSync(folder, { recursive: true }))

const GREET = `
kind: module
name: greet
description: Says hello
params:
  - name: word
    default: hello
steps:
  - name: say
    type: bash
    command: echo "{{word}} {{Target}}" | tee {{Output}}/said.txt
  - name: judge
    type: bash
    command: test "{{word}}" != fail
`

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)

const run = (...args: string[]) => runCaptured(args, { SCANFARM_DATA_DIR: folder, PATH: '/usr/bin:/bin' })

const exec = (...args: string[]) =>
  run('exec', join(folder, 'greet.yaml'), '-t', 'example.com', '--folder', join(folder, 'out'), ...args)

describe('scanfarm workflow', () => {
  test('lint accepts a valid file', async () => {
    expect(await run('workflow', 'lint', join(folder, 'greet.yaml'))).toMatchObject({ code: 0, err: '' })
  })

  test('lint refuses folders without workflow files', async () => {
    const empty = join(folder, 'empty')
    mkdirSync(empty)
    expect(await run('workflow', 'lint', empty)).toMatchObject({
      code: 2,
      err: `scanfarm: nothing was checked: ${empty} has no workflow files\n`,
    })
    expect((await run('workflow', 'lint', empty, join(folder, 'greet.yaml'))).code).toBe(0)
  })

  test('lint names file, line and column of every problem and ends with exit code 1', async () => {
    const file = join(folder, 'bad.yaml')
    const { code, out } = await run('workflow', 'lint', file)
    expect(code).toBe(1)
    expect(out).toMatch(`${file}:4:5: error: `)
    const { out: json } = await run('workflow', 'lint', '-o', 'json', file)
    expect(JSON.parse(json)).toContainEqual(expect.objectContaining({ file, line: 4, severity: 'error' }))
  })

  test('lint checks folders, and prints annotations for GitHub or SARIF', async () => {
    const { code, out } = await run('workflow', 'lint', folder, '--format', 'github')
    expect(code).toBe(1)
    expect(out).toMatch(/^::error file=.*bad\.yaml,line=4,col=5,/m)
    write('my odd.yaml', `${GREET}descripton: x\n`)
    const sarif = await run('workflow', 'lint', join(folder, 'my odd.yaml'), '--format', 'sarif')
    const uri = relative('', join(folder, 'my%20odd.yaml'))
    expect(JSON.parse(sarif.out)).toMatchObject({
      version: '2.1.0',
      runs: [{ results: [{ locations: [{ physicalLocation: { artifactLocation: { uri } } }] }] }],
    })
  })

  test('lint ends with exit code 0 when there are only warnings, unless it is strict', async () => {
    write('odd.yaml', `${GREET}descripton: x\n`)
    const { code, out } = await run('workflow', 'lint', join(folder, 'odd.yaml'))
    expect(out).toMatch(/odd\.yaml:\d+:1: warning: [^]*1 file: 0 errors, 1 warning/)
    expect(code).toBe(0)
    expect(await run('workflow', 'lint', '--strict', join(folder, 'odd.yaml'))).toMatchObject({ code: 1 })
  })

  test('schema prints the JSON Schema of the language', async () => {
    const { code, out } = await run('workflow', 'schema')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({ $schema: expect.any(String), title: 'Scanfarm workflow' })
  })

  test('show prints params and steps', async () => {
    const { out } = await run('workflow', 'show', join(folder, 'greet.yaml'))
    expect(out).toMatch(/module greet: Says hello[^]*word[^]*step say \(bash\)/)
  })

  test('show refuses an unknown workflow with exit code 1', async () => {
    const { code, err } = await run('workflow', 'show', 'no-such-workflow')
    expect(code).toBe(1)
    expect(err).toMatch('no-such-workflow')
  })

  test('a workflow file with another extension is refused, and the message names the right ones', async () => {
    write('greet.json', '{"kind": "module", "name": "greet", "steps": []}')
    const { code, err } = await run('exec', join(folder, 'greet.json'), '-t', 'a.test')
    expect(code).toBe(1)
    expect(err).toMatch(
      /greet\.json is not read as one: the names of workflow files end with \.yaml or \.yml/,
    )
  })
})

describe('scanfarm exec', () => {
  test('exec runs a file on this machine and prints its steps and their output', async () => {
    const { code, out } = await exec('-p', 'word=bye')
    expect(out).toMatch(/> say[^]*bye example\.com\n[^]*< say completed/)
    expect(code).toBe(0)
    expect(readFileSync(join(folder, 'out/said.txt'), 'utf8')).toBe('bye example.com\n')
  })

  test('exec prints a message that a function logs and returns once, and equal output of other steps too', async () => {
    write(
      'log.yaml',
      `kind: module
name: log
steps:
  - { name: note, type: function, function: 'log_info("at {{Target}}")' }
  - { name: quiet, type: function, suppress_details: true, function: 'log_warn("quiet")' }
  - { name: say, type: bash, command: 'echo at {{Target}}' }
`,
    )
    const { out } = await run(
      'exec',
      join(folder, 'log.yaml'),
      '-t',
      'a.test',
      '--folder',
      join(folder, 'out'),
    )
    const lines = out.split('\n').filter((line) => !/^[<>]|^files:/.test(line))
    expect(lines).toEqual(['[INFO] at a.test', 'warn: quiet', 'at a.test', ''])
  })

  test('exec refuses a param that does not match its type, and splits one without a type unless params are strict', async () => {
    write(
      'typed.yaml',
      `kind: module
name: typed
params:
  - { name: count, type: int, min: 1, max: 9, default: 2 }
  - { name: free }
steps:
  - { name: say, type: bash, command: "printf '[%s]' {{count}} {{free}}" }
`,
    )
    const typed = async (env: Record<string, string>, ...args: string[]) => {
      const terminal = captureTerminal({ SCANFARM_DATA_DIR: folder, PATH: '/usr/bin:/bin', ...env })
      const file = join(folder, 'typed.yaml')
      const code = await runProgram(
        ['exec', file, '-t', 'a.test', '--folder', join(folder, 'out'), ...args],
        terminal,
      )
      return { code, out: terminal.stdout(), err: terminal.stderr() }
    }
    const refused = await typed({}, '-p', 'count=3 touch x')
    expect(refused.code).toBe(2)
    expect(refused.err).toContain(
      'params/count: "3 touch x" does not fit: expected a whole number from 1 to 9',
    )
    expect((await typed({}, '-p', 'free=a b')).out).toContain('[2][a][b]')
    const strict = await typed({ SCANFARM_WORKFLOWS_STRICT_PARAMS: 'true' }, '-p', 'free=a b')
    expect(strict.out).toContain('[2][a b]')
    expect((await run('workflow', 'show', join(folder, 'typed.yaml'))).out).toMatch(/TYPE[^]*count +int/)
  })

  test('exec ends with exit code 1 and the reason when the run fails', async () => {
    const { code, err } = await exec('-p', 'word=fail')
    expect(code).toBe(1)
    expect(err).toMatch('the run failed')
  })

  test('exec -o json prints steps and output as one JSON object per line', async () => {
    const { out } = await exec('-o', 'json')
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { what: string })
    expect(lines.map(({ what }) => what)).toEqual(
      expect.arrayContaining(['plan', 'step-opened', 'output', 'step-closed']),
    )
    expect(lines.at(-1)).toEqual({
      what: 'ended',
      status: 'completed',
      errorMessage: '',
      outcome: 'clean',
      outcomeReasons: [],
    })
  })

  test('exec --json prints the run with its steps as one document, and the exit code still reports the outcome', async () => {
    const { code, out, err } = await exec('--json', '-p', 'word=fail')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      workflow_name: 'greet',
      target: 'example.com',
      status: 'failed',
      total_steps: 2,
      steps: [
        { name: 'say', status: 'completed', exit_code: 0, stdout: 'fail example.com\n' },
        { name: 'judge', status: 'failed', exit_code: 1 },
      ],
    })
    expect(err).toMatch('< judge failed')
  })

  test('functions of exec read only in the folder of the workflow file and in runner.paths', async () => {
    write('list.txt', 'beside\n')
    const elsewhere = mkdtempSync(join(tmpdir(), 'scanfarm-elsewhere-'))
    writeFileSync(join(elsewhere, 'list.txt'), 'elsewhere\n')
    write(
      'reads.yaml',
      `kind: module
name: reads
params: [{name: list}]
steps: [{name: read, type: function, function: 'read_file("{{list}}")'}]
`,
    )
    const reads = async (list: string, settings: Record<string, string> = {}) => {
      const terminal = captureTerminal({ SCANFARM_DATA_DIR: folder, PATH: '/usr/bin:/bin', ...settings })
      const args = ['exec', join(folder, 'reads.yaml'), '-t', 'example.com', '-p', `list=${list}`]
      const code = await runProgram([...args, '--folder', join(folder, 'out')], terminal)
      return { code, out: terminal.stdout() + terminal.stderr() }
    }
    try {
      const list = join(elsewhere, 'list.txt')
      expect(await reads(join(folder, 'list.txt'))).toMatchObject({
        code: 0,
        out: expect.stringContaining('beside'),
      })
      expect(await reads(list)).toMatchObject({
        code: 1,
        out: expect.stringContaining(`${list} is outside of the folders that a workflow may use`),
      })
      expect(await reads(list, { SCANFARM_RUNNER_PATHS: elsewhere })).toMatchObject({ code: 0 })
    } finally {
      rmSync(elsewhere, { recursive: true })
    }
  })

  test('exec -m and -f take a name or a path of a workflow of that kind only', async () => {
    const file = join(folder, 'greet.yaml')
    const rest = ['-t', 'example.com', '--folder', join(folder, 'out')]
    expect(await run('exec', '-m', file, ...rest)).toMatchObject({ code: 0 })
    expect(await run('exec', '-f', file, ...rest)).toMatchObject({
      code: 1,
      err: expect.stringMatching('module'),
    })
    expect(await run('exec', file, '-m', file, ...rest)).toMatchObject({ code: 2 })
    expect(await run('exec', ...rest)).toMatchObject({ code: 2 })
  })

  test('exec refuses invalid params as a server does, with exit code 2, and runs nothing', async () => {
    const file = join(folder, 'needs.yaml')
    write('needs.yaml', GREET.replace('default: hello', 'required: true'))
    const missing = await run('exec', file, '-t', 'example.com', '-p', 'a b=x')
    expect(missing).toMatchObject({ code: 2, out: '' })
    expect(missing.err).toContain('the name of a param has 1 to 128 characters')
    const absent = await run('exec', file, '-t', 'example.com')
    expect(absent).toMatchObject({ code: 2, out: '' })
    expect(absent.err).toContain('params/word: required parameter missing: word')
  })

  test('exec refuses a workflow whose manual trigger is disabled, as a server does', async () => {
    write('shut.yaml', `${GREET}triggers:\n  - {name: by-hand, on: manual, enabled: false}\n`)
    const shut = await run('exec', join(folder, 'shut.yaml'), '-t', 'example.com')
    expect(shut).toMatchObject({ code: 2, out: '' })
    expect(shut.err).toContain('Manual trigger is disabled for this module')
  })

  test('exec --dry-run executes nothing and prints the steps with their commands', async () => {
    rmSync(join(folder, 'out'), { recursive: true, force: true })
    const { code, out } = await exec('--dry-run')
    expect(code).toBe(0)
    expect(out).toMatch('> say: echo "hello example.com" | tee ')
    expect(existsSync(join(folder, 'out/said.txt'))).toBe(false)
  })
})
