import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import {
  checkParams,
  countSteps,
  hashResolved,
  lintPaths,
  memorySource,
  openLibrary,
  parseResolved,
  requirements,
  resolveWorkflow,
  stringifyResolved,
  WorkflowError,
} from '../src/index.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-library-'))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const write = (root: string, files: Record<string, string>): string => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, root, path)), { recursive: true })
    writeFileSync(join(folder, root, path), text)
  }
  return join(folder, root)
}

const module = (name: string, more = ''): string =>
  `kind: module\nname: ${name}\n${more}steps: [{name: a, type: bash, command: echo}]\n`
const flow = (name: string, modules: string): string => `kind: flow\nname: ${name}\nmodules: ${modules}\n`

const problem = (work: () => unknown): string => {
  try {
    work()
  } catch (error) {
    if (error instanceof WorkflowError) return `${error.reason}: ${error.message}`
    throw error
  }
  return 'none'
}

describe('a library', () => {
  test('finds workflows by file name, by suffix, by the name inside and by path', async () => {
    const root = write('names', {
      'probe.yaml': module('something-else'),
      'deep/scan-module.yml': module('x'),
      'deep/scan-flow.yaml': flow('y', '[{name: p, path: probe}]'),
      'deep/other.yaml': module('by-name'),
      '.hidden/probe.yaml': module('hidden'),
      'values.yaml': 'kind of: values\n',
      'notes.txt': 'kind: module\n',
    })
    const library = await openLibrary([root])
    expect(library.list().map(({ name }) => name)).toEqual(['by-name', 'something-else', 'x', 'y'])
    expect(library.find('probe')?.path).toBe('probe.yaml')
    expect(library.find('scan', 'flow')?.name).toBe('y')
    expect(library.find('scan', 'module')?.name).toBe('x')
    expect(library.find('by-name')?.path).toBe('deep/other.yaml')
    expect(library.find('deep/scan-flow.yaml')?.name).toBe('y')
    expect(library.find('../probe.yaml', 'module', library.find('y'))?.path).toBe('probe.yaml')
    expect(library.find('../../etc/passwd', 'module', library.find('y'))).toBeUndefined()
    expect(library.find('nothing')).toBeUndefined()
  })

  test('lists broken files with their problems and never lets them hide sound ones', async () => {
    const root = write('broken', {
      'a/probe.yaml': 'kind: module\nname: probe\nsteps: [\n',
      'b/c/probe.yaml': module('probe'),
      'binary.yaml': 'kind: module\nname: \0\0\n',
      'large.yaml': `kind: module\n#${'x'.repeat(2 << 20)}\n`,
    })
    const library = await openLibrary([root, join(folder, 'not-there')])
    expect(library.find('probe')?.path).toBe('b/c/probe.yaml')
    const broken = library.list().filter(({ workflow }) => workflow === undefined)
    expect(broken.map(({ path, problems }) => `${path} ${problems[0]?.rule}`).sort()).toEqual([
      'a/probe.yaml parse-error',
      'binary.yaml not-text',
      'large.yaml too-big',
    ])
    expect(problem(() => resolveWorkflow(library, { name: 'a/probe.yaml' }))).toMatch(
      /^invalid: workflow 'probe' cannot be used: a\/probe.yaml:\d/,
    )
  })

  test('notices new, changed and removed files, and what is in memory', async () => {
    const root = write('changes', { 'a.yaml': module('first') })
    const library = await openLibrary([root], { freshForMs: 0, sources: [memorySource('extra')] })
    const before = library.generation
    await library.refresh()
    expect(library.generation).toBe(before)
    writeFileSync(join(root, 'a.yaml'), module('second'))
    utimesSync(join(root, 'a.yaml'), new Date(), new Date(Date.now() + 5000))
    write('changes', { 'b.yaml': module('third') })
    await library.refresh()
    expect(library.list().map(({ name }) => name)).toEqual(['second', 'third'])
    rmSync(join(root, 'b.yaml'))
    await library.put('mine', module('mine'))
    expect(library.list().map(({ name }) => name)).toEqual(['mine', 'second'])
    await library.remove('mine')
    expect(library.find('mine')).toBeUndefined()
  })
})

describe('a resolved workflow', () => {
  test('holds everything a worker needs and survives its way as text', async () => {
    const library = await openLibrary([])
    await library.put('modules/probe.yaml', module('probe', 'dependencies: {commands: [nmap, curl]}\n'))
    await library.put(
      'box.yaml',
      module('box', 'runner: docker\nrunner_config: {image: alpine}\ndependencies: {commands: [jq]}\n'),
    )
    await library.put(
      'main.yaml',
      flow(
        'main',
        '[{name: one, path: modules/probe.yaml}, {name: two, path: box}, {name: three, steps: [{name: x, type: bash, command: y}, {name: z, type: bash, command: y}]}]',
      ),
    )
    const resolved = resolveWorkflow(library, { name: 'main', kind: 'flow' })
    expect(resolveWorkflow(library, { name: 'main', kind: 'flow' })).toBe(resolved)
    expect(Object.keys(resolved.modules)).toEqual(['one', 'two'])
    expect(countSteps(resolved)).toBe(4)
    expect(requirements(resolved)).toEqual(['docker', 'tool:curl', 'tool:nmap'])
    expect(requirements(resolved, { runner: 'ssh' })).toEqual([])
    const text = stringifyResolved(resolved)
    expect(hashResolved(parseResolved(text))).toBe(hashResolved(resolved))
    expect(() => parseResolved('{"format": 2}')).toThrow(WorkflowError)
    await library.put('box.yaml', module('box'))
    expect(hashResolved(resolveWorkflow(library, { name: 'main' }))).not.toBe(hashResolved(resolved))
  })

  test('cannot be made of what is not there, of the wrong kind, or goes in circles', async () => {
    const library = await openLibrary([])
    const child = (name: string, parent: string) => `kind: module\nname: ${name}\nextends: ${parent}\n`
    await library.put('a', child('a', 'b'))
    await library.put('b', child('b', 'a'))
    await library.put('self', child('self', 'self'))
    await library.put('orphan', child('orphan', 'nobody'))
    await library.put('f', flow('f', '[{name: x, path: nowhere.yaml}, {name: y, path: g}]'))
    await library.put('g', flow('g', '[{name: x, path: m}]'))
    await library.put('m', module('m'))
    await library.put('wrong', child('wrong', 'g'))
    const resolve = (name: string, kind?: 'flow' | 'module') =>
      problem(() => resolveWorkflow(library, { name, ...(kind === undefined ? {} : { kind }) }))
    expect(resolve('a')).toContain('circular inheritance detected: ')
    expect(resolve('self')).toContain('circular inheritance detected: self')
    expect(resolve('orphan')).toContain("orphan.yaml:3:10: the parent 'nobody' does not exist")
    expect(resolve('wrong')).toContain('which is a flow')
    expect(resolve('f')).toContain("f.yaml:3:27: module 'x' refers to 'nowhere.yaml', which does not exist")
    expect(resolve('m', 'flow')).toBe('other-kind: "m" is a module, not a flow.')
    expect(resolve('orphn')).toBe('not-found: There is no workflow named "orphn". Did you mean "orphan"?')
  })

  test('takes a module from another path only under the name of its file, never under that of the reference', async () => {
    const library = await openLibrary([])
    await library.put('flows/f', flow('f', '[{name: scan, path: modules/probe.yaml}]'))
    await library.put('flows/g', flow('g', '[{name: probe, path: modules/scan.yaml}]'))
    await library.put('uploaded/probe', module('probe'))
    expect(resolveWorkflow(library, { name: 'f' }).modules['scan']?.name).toBe('probe')
    expect(problem(() => resolveWorkflow(library, { name: 'g' }))).toContain(
      "module 'probe' refers to 'modules/scan.yaml', which does not exist",
    )
  })

  test('says which params are missing or may not be given', async () => {
    const library = await openLibrary([])
    await library.put(
      'm',
      module('m', 'params: [{name: a, required: true}, {name: b, required: true, default: x}, {name: c}]\n'),
    )
    const resolved = resolveWorkflow(library, { name: 'm' })
    expect(checkParams(resolved, { c: 'a; b' })).toEqual([
      { path: '/params/a', message: 'required parameter missing: a' },
      { path: '/params/c', message: 'a param must not contain the character ;' },
    ])
    expect(checkParams(resolved, { a: '-x "y z"' })).toEqual([])
  })
})

test('a folder is checked with everything its files refer to', async () => {
  const root = write('lint', {
    'flows/f.yaml': flow('f', '[{name: x, path: modules/m.yaml}, {name: y, path: modules/n.yaml}]'),
    'modules/m.yaml': module('m'),
    'docker-compose.yaml': 'services: {}\n',
  })
  const { files, problems } = await lintPaths([root])
  expect(files).toBe(2)
  expect(
    problems.map(({ file, line, column, rule }) => `${file.slice(root.length)}:${line}:${column} ${rule}`),
  ).toEqual(['/flows/f.yaml:3:60 unknown-workflow'])
  const gone = await lintPaths([join(root, 'gone.yaml')])
  expect(gone.problems[0]?.rule).toBe('not-found')
})
