import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { runCaptured } from './captured-terminal.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-environment-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

const SECRET = 'hunter2-secret'
const environment = (more: Record<string, string>) => ({
  SCANFARM_DATA_DIR: join(folder, 'data'),
  PATH: '/usr/bin:/bin',
  ...more,
})
const run = (more: Record<string, string>, ...args: string[]) => runCaptured(args, environment(more))

const exec = (more: Record<string, string>, command: string) => {
  const file = join(folder, 'a.yaml')
  const step = `{name: a, type: bash, std_file: copy.txt, command: ${JSON.stringify(command)}}`
  writeFileSync(file, `kind: module\nname: a\nsteps: [${step}]\n`)
  return run(more, 'exec', file, '-t', 'example.com', '--folder', join(folder, 'out'), '--json')
}
const outputOf = ({ out }: { out: string }): string =>
  (JSON.parse(out) as { steps: { stdout: string }[] }).steps[0]?.stdout ?? ''

test('exec passes the variables of runner.env to commands and masks the secret ones', async () => {
  const more = { MY_KEY: SECRET, OTHER_KEY: 'not passed', SCANFARM_RUNNER_ENV: 'MY_KEY,MODE=fast' }
  const ran = await exec(more, 'echo "$MODE $MY_KEY $OTHER_KEY" ; printf %s "$MY_KEY" | wc -c')
  expect(outputOf(ran)).toBe(`fast *** \n${SECRET.length}\n`)
  expect(ran.out + ran.err).not.toContain(SECRET)
  expect(readFileSync(join(folder, 'out/copy.txt'), 'utf8')).not.toContain(SECRET)
})

test('exec sets the template variable Version to the version of the program', async () => {
  const { out } = await run({}, '--version')
  expect(outputOf(await exec({}, 'echo {{Version}}'))).toBe(out)
  expect(out).toMatch(/^\d+\.\d+/)
})

test('exec sets the template variables of the settings, and those of the folders', async () => {
  const data = join(folder, 'data/base/external-data')
  mkdirSync(data, { recursive: true })
  writeFileSync(join(data, 'words.txt'), 'a word\n')
  const ran = await exec(
    { SCANFARM_WORKFLOWS_VARIABLES: 'region=eu' },
    'cat {{Data}}/words.txt; ls -d {{ExternalScripts}}; echo {{region}} {{BaseFolder}}',
  )
  const base = join(folder, 'data/base')
  expect(outputOf(ran)).toBe(`a word\n${base}/external-scripts\neu ${base}\n`)
})

test('exec uses the home of the user, or keeps the one of runner.home between runs', async () => {
  const command = 'cat ~/state 2>/dev/null; echo "$HOME" | tee ~/state'
  const own = join(folder, 'user')
  mkdirSync(own)
  expect(outputOf(await exec({ HOME: own }, command))).toBe(`${own}\n`)
  expect(existsSync(join(own, 'state'))).toBe(true)
  const more = { HOME: own, SCANFARM_RUNNER_HOME: join(folder, 'homes') }
  const first = outputOf(await exec(more, command))
  expect(first).toContain(join(folder, 'homes'))
  expect(outputOf(await exec(more, command))).toBe(first + first)
})

test('config masks the variables of runner.env and prints the folder for tools', async () => {
  const { out } = await run({ SCANFARM_RUNNER_ENV: `MY_KEY=${SECRET},MODE=fast` }, 'config')
  expect(out).toContain('runner.env: ["MY_KEY=***","MODE=fast"]')
  expect(out).toContain(`folders.base: "${join(folder, 'data/base')}"`)
  expect(out).not.toContain(SECRET)
})

test('doctor prints the folders with their programs, the home, and the missing and the masked variables', async () => {
  const tools = join(folder, 'tools/external-binaries')
  mkdirSync(tools, { recursive: true })
  writeFileSync(join(tools, 'mytool'), '#!/bin/sh\n', { mode: 0o755 })
  const more = {
    SCANFARM_FOLDERS_BASE: join(folder, 'tools'),
    SCANFARM_RUNNER_HOME: join(folder, 'homes'),
    SCANFARM_RUNNER_ENV: `MISSING,MY_KEY=${SECRET}`,
    SCANFARM_RUNNER_ISOLATION: 'none',
    DATABASE_URL: 'postgres://u:p@127.0.0.1:1/d',
  }
  const { out } = await run(more, 'doctor', '-o', 'json')
  const findings = new Map(
    (JSON.parse(out) as { part: string; message: string }[]).map(({ part, message }) => [part, message]),
  )
  expect(findings.get('folders')).toContain(`${tools} with mytool`)
  expect(findings.get('home')).toBe(`${join(folder, 'homes')}, workspace`)
  expect(findings.get('variables')).toBe(
    'not set in the environment of this program: MISSING; masked: MY_KEY',
  )
  expect(out).not.toContain(SECRET)
})
