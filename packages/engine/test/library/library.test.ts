import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { checkParams } from '../../src/flow/params.ts'
import { countSteps } from '../../src/execute.ts'
import {
  hashResolved,
  memorySource,
  parseResolved,
  resolveWorkflow,
  stringifyResolved,
  WorkflowError,
} from '@scanfarm/language'
import { lintPaths } from '../../src/lint/lint-paths.ts'
import { openFile } from '../../src/library/file-library.ts'
import { openLibrary } from '../../src/library/open-library.ts'
import { requirements } from '../../src/requirements.ts'

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
  test('a library finds workflows by file name, suffix, declared name and path', async () => {
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

  test('a library lists invalid files with their problems, and they never hide valid ones', async () => {
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

  test('a library detects new, changed and removed files, and includes sources in memory', async () => {
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
  test('a resolved workflow contains everything a worker needs and can be serialized', async () => {
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

  test('workflows with missing, wrong or cyclic references cannot be resolved', async () => {
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

  test('a module from another path is resolved by the name of its file, never by that of the reference', async () => {
    const library = await openLibrary([])
    await library.put('flows/f', flow('f', '[{name: scan, path: modules/probe.yaml}]'))
    await library.put('flows/g', flow('g', '[{name: probe, path: modules/scan.yaml}]'))
    await library.put('uploaded/probe', module('probe'))
    expect(resolveWorkflow(library, { name: 'f' }).modules['scan']?.name).toBe('probe')
    expect(problem(() => resolveWorkflow(library, { name: 'g' }))).toContain(
      "module 'probe' refers to 'modules/scan.yaml', which does not exist",
    )
  })

  test('a resolved workflow reports missing and unknown params', async () => {
    const library = await openLibrary([])
    await library.put(
      'm',
      module('m', 'params: [{name: a, required: true}, {name: b, required: true, default: x}, {name: c}]\n'),
    )
    const resolved = resolveWorkflow(library, { name: 'm' })
    expect(checkParams(resolved, { c: 'a\0b' })).toEqual([
      { path: '/params/a', message: 'required parameter missing: a' },
      { path: '/params/c', message: 'a param must not contain NUL' },
    ])
    expect(checkParams(resolved, { a: '-x "y z"' })).toEqual([])
  })

  test('required params that the system sets are not reported as missing', async () => {
    const library = await openLibrary([])
    const names = ['target', 'Target', 'TargetHost', 'Output', 'threads', 'tactic']
    const params = names.map((name) => `{name: ${name}, required: true}`).join(', ')
    await library.put('m', module('m', `params: [${params}]\n`))
    expect(checkParams(resolveWorkflow(library, { name: 'm' }), {})).toEqual([
      { path: '/params/tactic', message: 'required parameter missing: tactic' },
    ])
  })
})

test('lintPaths checks a folder with everything its files refer to', async () => {
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

describe('a file by itself', () => {
  const established = () =>
    write('established', {
      'flows/f.yaml': flow('f', '[{name: x, path: modules/m.yaml}, {name: y, path: common/n}]'),
      'modules/m.yaml': module('m'),
      'common/n.yaml': module('n'),
      'big/unrelated.yaml': 'kind: module\n\tbroken',
    })
  const names = async (file: string, cwd: string, folders: string[] = []) =>
    Object.values(resolveWorkflow(await openFile(file, { cwd, folders }), { name: file }).modules).map(
      ({ name }) => name,
    )

  test('a single file finds modules beside the folder of the flows, from any current folder', async () => {
    const root = established()
    expect(await names('flows/f.yaml', root)).toEqual(['m', 'n'])
    expect(await names('f.yaml', join(root, 'flows'))).toEqual(['m', 'n'])
    expect(await names(join(root, 'flows/f.yaml'), '/')).toEqual(['m', 'n'])
    expect((await lintPaths([join(root, 'flows/f.yaml')])).problems).toEqual([])
    expect((await lintPaths([join(root, 'flows')])).problems).toEqual([])
  })

  test('a single file finds the modules of its parent in another folder', async () => {
    const root = established()
    const child = `kind: flow\nname: c\nextends: f\n`
    write('established', { 'flows/c.yaml': child, 'flows/own/d.yaml': child.replace('f\n', '../f\n') })
    expect(await names('flows/c.yaml', root)).toEqual(['m', 'n'])
    expect(await names(join(root, 'flows/c.yaml'), '/')).toEqual(['m', 'n'])
    expect(await names('flows/own/d.yaml', root)).toEqual(['m', 'n'])
    expect((await lintPaths([join(root, 'flows/c.yaml')])).problems).toEqual([])
  })

  test('a single file reads only files that it refers to', async () => {
    const root = established()
    const library = await openFile('flows/f.yaml', { cwd: root, folders: [] })
    expect(library.list().map(({ path }) => path)).toEqual([
      'flows/f.yaml',
      'modules/m.yaml',
      'common/n.yaml',
    ])
  })

  test('a single file prefers the current folder, and falls back to the folders of the settings by path or name', async () => {
    const root = established()
    const other = write('other', {
      'modules/m.yaml': module('other-m'),
      'modules/z.yaml': module('z'),
      'f.yaml': flow(
        'f',
        '[{name: x, path: modules/m.yaml}, {name: y, path: modules/z.yaml}, {name: z, path: z}]',
      ),
    })
    const [mine, settings] = [write('mine', { 'x.txt': '' }), other]
    expect(await names(join(root, 'flows/f.yaml'), other)).toEqual(['other-m', 'n'])
    writeFileSync(join(mine, 'f.yaml'), readFileSync(join(other, 'f.yaml')))
    expect(await names('f.yaml', mine, [settings])).toEqual(['other-m', 'z', 'z'])
  })

  test('a single file searches no other folders', async () => {
    const root = write('far', {
      'a/secret.yaml': module('secret'),
      'b/c/d/f.yaml': flow('f', '[{name: x, path: ../../../a/secret.yaml}]'),
      'b/c/d/g.yaml': flow('g', `[{name: x, path: ${join(folder, 'far/a/secret.yaml')}}]`),
    })
    for (const name of ['f.yaml', 'g.yaml'])
      await expect(names(name, join(root, 'b/c/d'))).rejects.toThrow('which does not exist')
  })
})

test('a workflow that cannot start is listed as invalid, with the position of the reference', async () => {
  const root = write('reached', {
    'a.yaml': 'kind: module\nname: a\nextends: b\n',
    'b.yaml': 'kind: module\nname: b\nextends: a\n',
    'f.yaml': flow('f', '[{name: x, path: a.yaml}]'),
    'g.yaml': flow('g', '[{name: x, path: gone.yaml}]'),
    'h.yaml': flow('h', '[{name: x, path: g.yaml}]'),
    'm.yaml': module('m'),
  })
  const library = await openLibrary([root])
  const sound = (entries: readonly { name: string; workflow: unknown }[]) =>
    entries.filter(({ workflow }) => workflow !== undefined).map(({ name }) => name)
  expect(sound(library.list())).toEqual(['m'])
  expect(library.find('f')?.problems.map(({ rule }) => rule)).toContain('broken-module')
  const { problems } = await lintPaths(['a', 'b', 'f', 'g', 'h'].map((name) => join(root, `${name}.yaml`)))
  expect(problems.map(({ file, line, rule }) => `${file.slice(root.length)}:${line} ${rule}`)).toEqual([
    '/a.yaml:3 broken-parent',
    '/b.yaml:3 broken-parent',
    '/f.yaml:3 broken-module',
    '/g.yaml:3 unknown-workflow',
    '/h.yaml:3 kind-mismatch',
  ])
  writeFileSync(join(root, 'gone.yaml'), module('gone'))
  await library.refresh({ force: true })
  expect(sound(library.list())).toEqual(['g', 'gone', 'm'])
})

test('files in JSON style are workflows only if they look like one', async () => {
  const root = write('braces', {
    'a.yaml':
      '{"kind": "module", "name": "a", "steps": [{"name": "s", "type": "bash", "command": "echo"}]}\n',
    'b.yaml': '# of b\n---\n{name: b,\n kind: module, steps: [{name: s, type: bash, command: echo}]}\n',
    'pod.yaml': '{"kind": "Pod", "spec": {}}\n',
    'words.yaml': 'note: {kind: module}\n',
  })
  const library = await openLibrary([root])
  expect(library.list().map(({ name, problems }) => [name, problems])).toEqual([
    ['a', []],
    ['b', []],
  ])
  const file = await openFile(join(root, 'a.yaml'), { folders: [] })
  expect(resolveWorkflow(file, { name: 'a' }).root.name).toBe('a')
})
