import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { parse } from 'yaml'
import { runProgram } from '../src/index.ts'
import { captureTerminal, runCaptured } from './captured-terminal.ts'

const SHIPPED = join(import.meta.dirname, '../../../workflows')
const TEST_MS = 180_000

const WORKFLOW = `
kind: module
name: probe
params: [{ name: level, default: '1' }]
dependencies: { commands: [probe-tool] }
steps:
  - name: probe
    type: bash
    command: probe-tool --level={{level}} --out={{Output}}/report.json {{Target}} > {{Output}}/said.txt
    on_error: [{ action: continue }]
  - name: read
    type: function
    function: log_info(read_file("{{Output}}/said.txt"))
    exports: { report: '{{Output}}/report.json' }
  - name: record
    type: function
    function: db_import_vuln_from_file("{{Workspace}}", "{{Output}}/report.json")
reports:
  - { name: report, path: '{{Output}}/report.json', type: json }
`

/** Writes a report, says something, and fails. */
const TOOL = `#!/bin/sh
printf '{"vuln_info":"weak-login","vuln_title":"Weak login","severity":"high","asset_value":"%s"}\\n' "$3" > "\${2#--out=}"
echo "it's level \${1#*=}"
echo "a warning" >&2
exit 3
`

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-workflow-test-'))
  mkdirSync(join(folder, 'tools'))
  write('probe.yaml', WORKFLOW)
  write('tools/probe-tool', TOOL)
  chmodSync(join(folder, 'tools/probe-tool'), 0o755)
})
afterEach(() => rmSync(folder, { recursive: true }))

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)
const casePath = (): string => join(folder, 'probe.test/weak.yaml')

const run = (args: readonly string[], tools = '') =>
  runCaptured(['workflow', 'test', ...args], {
    SCANFARM_DATA_DIR: join(folder, 'data'),
    PATH: `${tools}/usr/bin:/bin`,
  })

const record = (...args: string[]) =>
  run(
    [join(folder, 'probe.yaml'), '--record', 'weak', '-t', 'a.test', '-p', 'level=2', ...args],
    `${join(folder, 'tools')}:`,
  )
const runCases = (...args: string[]) => run([join(folder, 'probe.yaml'), ...args])

describe('scanfarm workflow test', () => {
  test(
    'records a real run, and repeats it without its programs',
    async () => {
      expect(await record()).toMatchObject({ code: 0, err: '' })
      const text = readFileSync(casePath(), 'utf8')
      expect(text).not.toContain(folder)
      const { target, params, programs, calls, expect: expected } = parse(text)
      expect({ target, params, programs }).toEqual({
        target: 'a.test',
        params: { level: '2' },
        programs: ['probe-tool'],
      })
      expect(calls).toEqual([
        {
          program: 'probe-tool',
          args: ['--level=2', '--out={{Output}}/report.json', 'a.test'],
          exit_code: 3,
          stdout: "it's level 2\n",
          stderr: 'a warning\n',
          files: { '{{Output}}/report.json': expect.stringContaining('"weak-login"') },
        },
      ])
      expect(expected).toMatchObject({
        status: 'completed',
        outcome: 'partial',
        steps: {
          probe: { status: 'failed', error: 'command exited with code 3: a warning' },
          read: { status: 'completed', exports: { report: '{{Output}}/report.json' } },
          record: 'completed',
        },
        findings: ['high | weak-login | Weak login | a.test'],
        files: { '{{Output}}/report.json': expect.stringContaining('"weak-login"') },
      })
      rmSync(join(folder, 'tools'), { recursive: true })
      expect(await run([folder])).toMatchObject({
        code: 0,
        out: expect.stringContaining('1 case: 1 passed, 0 failed'),
      })
    },
    TEST_MS,
  )

  test(
    'records a run on a machine that lacks a program, and repeats it where the program is',
    async () => {
      expect(await record('--without', 'probe-tool')).toMatchObject({ code: 0, err: '' })
      expect(parse(readFileSync(casePath(), 'utf8'))).toMatchObject({
        without: ['probe-tool'],
        programs: [],
        calls: [],
        expect: {
          status: 'failed',
          reasons: [expect.stringContaining('required command not found: probe-tool'), expect.any(String)],
        },
      })
      expect(await run([folder], `${join(folder, 'tools')}:`)).toMatchObject({ code: 0 })
    },
    TEST_MS,
  )

  test(
    'shows what differs, and ends with exit code 1; --update expects it from then on',
    async () => {
      await record()
      write('probe.yaml', WORKFLOW.replace('name: read', 'name: look').replace('log_info(', 'log_warn('))
      const text = readFileSync(casePath(), 'utf8')
      writeFileSync(
        casePath(),
        text.replace('- high | weak-login', '- low | weak-login').replace('assets: []', 'assets: [x]'),
      )
      const { code, out, err } = await runCases()
      expect(code).toBe(1)
      expect(err).toContain('1 of 1 case failed')
      expect(out).toMatch(/FAILED .*weak\.yaml/)
      expect(out).toMatch(/step read\n +- completed\n +\+ \(none\)\n/)
      expect(out).toMatch(/assets\n +- x\n +\+ \(none\)\n/)
      expect(out).toMatch(/step look\n +- \(none\)\n +\+ completed\n/)
      expect(out).toMatch(
        /findings\n +- low \| weak-login \| Weak login \| a\.test\n +\+ high \| weak-login \| Weak login \| a\.test\n/,
      )
      expect(await runCases('--update')).toMatchObject({ code: 0 })
      expect(await runCases('--case', 'weak')).toMatchObject({ code: 0 })
    },
    TEST_MS,
  )

  test(
    'a call that the case does not have fails, as does one that is no longer made',
    async () => {
      await record()
      write('probe.yaml', WORKFLOW.replace('--level={{level}}', '--level={{level}}0'))
      const { code, out } = await runCases('--update')
      expect(code).toBe(1)
      expect(out).toContain(
        'a call that the case does not have\n    + ["probe-tool","--level=20","--out={{Output}}/report.json","a.test"]',
      )
      expect(out).toContain(
        'a call of the case that was not made\n    - ["probe-tool","--level=2","--out={{Output}}/report.json","a.test"]',
      )
    },
    TEST_MS,
  )

  test(
    'warns of equal calls side by side with different results, as of those that read their input',
    async () => {
      const meet = `until [ "$(ls ${folder}/met | wc -l)" = 2 ]; do :; done`
      mkdirSync(join(folder, 'met'))
      write('tools/probe-tool', `#!/bin/sh\nread one; : > ${folder}/met/$one; ${meet}; echo "$one"\n`)
      const steps = `[{ name: both, type: bash, parallel_commands: ['echo a | probe-tool', 'echo b | probe-tool'] }]`
      write('probe.yaml', WORKFLOW.replace(/steps:[^]*/, `steps: ${steps}`))
      const { err } = await record()
      expect(err).toMatch(/equal arguments \(\[\]\) ran side by side.*\n.*: probe-tool may have read/)
    },
    TEST_MS,
  )

  test('refuses what it cannot test or record, and says why', async () => {
    expect(await runCases()).toMatchObject({ code: 2, err: expect.stringContaining('has no cases') })
    rmSync(join(folder, 'tools/probe-tool'))
    expect(await record()).toMatchObject({
      code: 2,
      err: expect.stringContaining('probe-tool is not on PATH'),
    })
    mkdirSync(join(folder, 'probe.test'))
    write('probe.test/weak.yaml', 'target: a.test\n')
    expect(await record()).toMatchObject({ code: 2, err: expect.stringContaining('exists: remove it') })
    expect(await runCases()).toMatchObject({
      code: 1,
      err: expect.stringMatching(/weak\.yaml is not a case: .*params/),
    })
  })

  test('cases are not taken for workflows', async () => {
    mkdirSync(join(folder, 'probe.test'))
    write('probe.test/weak.yaml', 'target: a.test\n')
    const terminal = captureTerminal({ SCANFARM_DATA_DIR: join(folder, 'data'), PATH: '/usr/bin:/bin' })
    expect(await runProgram(['workflow', 'lint', folder], terminal)).toBe(0)
    expect(terminal.stdout()).toContain('1 file: 0 errors')
  })

  test(
    'all cases of the shipped workflows pass',
    async () => {
      const { code, out } = await run([SHIPPED])
      expect(out).toMatch(/^ok .*baseline\.test/m)
      expect(out).not.toContain('FAILED')
      expect(code).toBe(0)
    },
    TEST_MS,
  )
})
