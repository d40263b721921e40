import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { loadConfig, readConfig, showConfig, type ConfigSources } from '@scanfarm/platform'
import { toolFolders } from '@scanfarm/worker'
import { SETTINGS } from '../src/settings.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-variables-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const write = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const variablesOf = (sources: Partial<ConfigSources>) =>
  readConfig(SETTINGS, { env: {}, ...sources }).runner.env.map(({ name, value, isSecret }) => [
    name,
    value?.reveal(),
    isSecret,
  ])
const problem = (sources: Partial<ConfigSources>): string => {
  try {
    readConfig(SETTINGS, { env: {}, ...sources })
  } catch (error) {
    return String(error)
  }
  return ''
}

test('Variables of commands are passed on by name or pattern, set to a value, or read from a file', () => {
  write('token', 'from-a-file\n')
  const configPath = write(
    'list.yaml',
    'runner.env: [PASSED, MISSING, "*_KEY", MODE=fast, "AT=@@home", TOKEN=@token]\n',
  )
  const env = {
    PASSED: 'a longer value',
    X_API_KEY: 'kkkk',
    SCANFARM_HTTP_FILES_KEY: 'never-never-never-never',
    OTHER: 'never',
  }
  expect(variablesOf({ env, configPath })).toEqual([
    ['PASSED', 'a longer value', true],
    ['MISSING', undefined, false],
    ['X_API_KEY', 'kkkk', true],
    ['MODE', 'fast', false],
    ['AT', '@home', false],
    ['TOKEN', 'from-a-file', true],
  ])
})

test('A map, a list and an environment variable define the same variables', () => {
  const token = write('token', 'from-a-file')
  const configPath = write(
    'map.yaml',
    `runner:\n  env:\n    PASSED:\n    MODE: fast\n    N: 3\n    TOKEN: {file: token}\n`,
  )
  const expected = [
    ['PASSED', 'x', false],
    ['MODE', 'fast', false],
    ['N', '3', false],
    ['TOKEN', 'from-a-file', true],
  ]
  expect(variablesOf({ env: { PASSED: 'x' }, configPath })).toEqual(expected)
  const env = { PASSED: 'x', SCANFARM_RUNNER_ENV: `PASSED,MODE=fast,N=3,TOKEN=@${token}` }
  expect(variablesOf({ env })).toEqual(expected)
})

test('Settings are shown without the values of secrets, and the config lists the files that contain them', () => {
  const token = write('token', 'from-a-file')
  const configPath = write('shown.yaml', 'runner.env: [PASSED, API_KEY=literal, MODE=fast, TOKEN=@token]\n')
  const loaded = loadConfig(SETTINGS, { env: { PASSED: 'passed-value' }, configPath })
  expect(showConfig(SETTINGS, loaded).find(({ key }) => key === 'runner.env')?.value).toEqual([
    'PASSED',
    'API_KEY=***',
    'MODE=fast',
    `TOKEN=@${token}`,
  ])
  expect(JSON.stringify(showConfig(SETTINGS, loaded))).not.toMatch(/passed-value|literal|from-a-file/)
  expect(loaded.config.files).toEqual([
    { path: configPath, containsSecrets: true },
    { path: token, containsSecrets: true },
  ])
})

test('Paths and plain addresses are not secrets, but addresses with credentials are', () => {
  const env = {
    SCANFARM_RUNNER_ENV: 'A=/opt/tools/go,B=http://10.0.0.1:8080,C=http://me:pw@10.0.0.1,D=/opt/a:/opt/b',
  }
  expect(variablesOf({ env }).map(([, , isSecret]) => isSecret)).toEqual([false, false, true, false])
})

test.each([
  ['PATH=/x', 'runner.path'],
  ['HOME=/x', 'runner.home'],
  ['LD_PRELOAD=/x', 'changes what shells'],
  ['BASH_ENV=/x', 'changes what shells'],
  ['DATABASE_URL', 'belongs to this program'],
  ['SCANFARM_TOKEN', 'belongs to this program'],
  ['A-B=x', 'letters, digits and _'],
  ['K=1,K=2', 'K only once'],
  ['K=@/nowhere/at/all', 'cannot be read'],
])('The variables %s are refused with a reason', (text, reason) => {
  expect(problem({ env: { SCANFARM_RUNNER_ENV: text } })).toContain(reason)
})

test('An error about a variable does not show the values of the others', () => {
  const env = { SCANFARM_RUNNER_ENV: 'API_KEY=very-secret,PATH=/x' }
  expect(problem({ env })).toContain('runner.env')
  expect(problem({ env })).not.toContain('very-secret')
})

test('A secret file that is too short to be masked is refused', () => {
  const path = write('short', 'abc\n')
  expect(problem({ env: { SCANFARM_RUNNER_ENV: `K=@${path}` } })).toContain('at least 4 characters')
})

test('Variables of workflows keep numbers and booleans, and are secret only by name or file', () => {
  const configPath = write(
    'workflows.yaml',
    'workflows.variables: {limit: 20, deep: true, profile: aggressive, SHODAN_API_KEY: abcdef}\n',
  )
  const { variables } = readConfig(SETTINGS, { env: {}, configPath }).workflows
  expect(variables.map(({ name, plain, isSecret }) => [name, plain, isSecret])).toEqual([
    ['limit', 20, false],
    ['deep', true, false],
    ['profile', undefined, false],
    ['SHODAN_API_KEY', undefined, true],
  ])
  expect(problem({ env: { SCANFARM_WORKFLOWS_VARIABLES: 'Target=x' } })).toContain('every run has its own')
})

test('The folders for tools are below the data folder, with the names of an established base folder', () => {
  const foldersOf = (env: Record<string, string>) => toolFolders(readConfig(SETTINGS, { env }))
  expect(foldersOf({ SCANFARM_DATA_DIR: '/d' })).toMatchObject({
    base: '/d/base',
    data: '/d/base/external-data',
    workflows: '/d/workflows',
  })
  expect(foldersOf({ SCANFARM_FOLDERS_BASE: '/b' })).toMatchObject({
    binaries: '/b/external-binaries',
    snapshots: '/b/snapshot',
  })
})
