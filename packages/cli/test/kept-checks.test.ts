import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { globSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { checkSource } from '@scanfarm/engine'
import { READ_LIMITS, type SourceFile } from '@scanfarm/language'
import { folderOfChecks, keepingChecks } from '../src/workflows/kept-checks.ts'

const ROOT = join(import.meta.dirname, '../../..')

let folder = ''
let checks = 0

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-checks-'))
  checks = 0
})

afterEach(async () => await rm(folder, { recursive: true, force: true }))

const fileOf = (text: string, path = 'one.yaml'): SourceFile => ({
  source: 'file',
  path,
  text,
  limits: READ_LIMITS,
})

const ONE = fileOf('kind: module\nname: one\nsteps: [{ name: a, type: bash, command: echo }]\n')

const check = (file: SourceFile, kept: string | undefined = join(folder, 'checks')) =>
  keepingChecks(kept, (asked) => {
    checks += 1
    return checkSource(asked)
  })(file)

test('A file that has not changed is checked once', () => {
  expect(check(ONE)).toEqual(checkSource(ONE))
  expect(check(ONE)).toEqual(checkSource(ONE))
  expect(checks).toBe(1)
})

test('A file with another text or path is checked again', () => {
  check(ONE)
  expect(check(fileOf(ONE.text.replace('echo', 'true'))).entry?.workflow?.steps?.[0]?.command).toBe('true')
  expect(check(fileOf(ONE.text, 'two.yaml')).entry?.path).toBe('two.yaml')
  expect(checks).toBe(3)
  check(ONE)
  expect(checks).toBe(4)
})

test('Each shipped workflow and its problems are the same when they were kept', async () => {
  for (const path of globSync('workflows/**/*.yaml', { cwd: ROOT })) {
    const file = fileOf(await readFile(join(ROOT, path), 'utf8'), path)
    const first = check(file)
    expect(check(file)).toEqual(first)
  }
  const broken = fileOf('kind: module\nname: one\nsteps: [{ name: a, type: bsh }]\n')
  expect(check(broken).problems).not.toEqual([])
  expect(check(broken)).toEqual(checkSource(broken))
})

test('Other users cannot read what is kept', async () => {
  check(ONE)
  const kept = join(folder, 'checks')
  const [name = ''] = await readdir(kept)
  const modes = [kept, join(kept, name)].map((path) => (statSync(path).mode & 0o777).toString(8))
  expect(modes).toEqual(['700', '600'])
})

test('A damaged result is replaced', async () => {
  check(ONE)
  const [name = ''] = await readdir(join(folder, 'checks'))
  await writeFile(join(folder, 'checks', name), 'damaged')
  expect(check(ONE)).toEqual(checkSource(ONE))
  check(ONE)
  expect(checks).toBe(2)
})

test('Old results are removed when there are too many, and without a usable folder nothing is kept', async () => {
  for (let number = 0; number < 201; number += 1) check(fileOf(ONE.text, `${number}.yaml`))
  expect(await readdir(join(folder, 'checks'))).toHaveLength(1)
  await writeFile(join(folder, 'file'), '')
  expect(check(ONE, join(folder, 'file'))).toEqual(checkSource(ONE))
})

test('Only a bundle has a folder for results', () => {
  expect(folderOfChecks('/opt/scanfarm/lib/start.js')).toBe('/opt/scanfarm/lib/checks')
  expect(folderOfChecks('/opt/scanfarm/packages/cli/src/main.ts')).toBeUndefined()
})
