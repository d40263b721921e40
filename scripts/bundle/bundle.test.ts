import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { currentBundle, EXEC_SOURCES, stateOf, type BundleSources } from './current.ts'

const ROOT = join(import.meta.dirname, '../..')
const SCANFARM = join(ROOT, 'scripts/scanfarm')
const folder = mkdtempSync(join(tmpdir(), 'scanfarm-bundle-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Libraries of servers, of stores and of machines elsewhere. */
const HEAVY =
  /\/(?:dockerode|ssh2|@aws-sdk|@azure|@google-cloud|@linode|kysely|pg|express|bullmq|ioredis|winston|prom-client)\//

interface Output {
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>
  readonly imports: readonly { readonly path: string; readonly external?: boolean }[]
}

const loaded = (bundle: string, file: string): string[] => {
  const outputs = JSON.parse(readFileSync(join(bundle, 'inputs.json'), 'utf8')) as Record<string, Output>
  const [, output] = Object.entries(outputs).find(([path]) => path.endsWith(`/${file}`)) ?? []
  return Object.entries(output?.inputs ?? {}).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [path] : [],
  )
}

const scanfarm = (args: readonly string[], cwd: string): string =>
  execFileSync(SCANFARM, args, { cwd, encoding: 'utf8' })

test('the version and exec load none of the libraries of servers, and nothing else for the version', () => {
  expect(scanfarm(['--version'], '/')).toBe('0.1.0\n')
  const bundle = currentBundle(ROOT) ?? ''
  const [start, exec] = [loaded(bundle, 'start.js'), loaded(bundle, 'exec.js')]
  expect(exec).toContain('packages/engine/src/execute.ts')
  expect([...start, ...exec].filter((path) => HEAVY.test(path))).toEqual([])
  expect(start.filter((path) => path.includes('node_modules'))).toEqual([])
  expect(start.length).toBeLessThan(20)
})

test('exec is built again after changes of all sources that it can load, also in threads, and of no others', () => {
  scanfarm(['--version'], '/')
  const bundle = currentBundle(ROOT) ?? ''
  const sources = JSON.parse(readFileSync(join(bundle, EXEC_SOURCES), 'utf8')) as BundleSources
  const paths = sources.map(([path]) => path)
  const own = [...loaded(bundle, 'start.js'), ...loaded(bundle, 'exec.js')]
  expect(paths).toEqual(
    expect.arrayContaining(own.filter((path) => /^(?:packages|scripts)\/.*\.ts$/.test(path))),
  )
  expect(paths).toEqual(
    expect.arrayContaining(['pnpm-lock.yaml', 'packages/engine/src/expression/thread.ts']),
  )
  expect(paths).not.toContain('packages/server/src/start-server.ts')
})

test('exec runs from the bundle in any folder', () => {
  const file = join(folder, 'one.yaml')
  writeFileSync(
    file,
    'kind: module\nname: one\nsteps:\n  - name: a\n    type: bash\n    command: echo "<{{target}}>"\n',
  )
  for (const cwd of ['/', folder])
    expect(scanfarm(['exec', file, '-t', 'example.com', '-W', join(folder, 'out')], cwd)).toContain(
      '<example.com>',
    )
})

test('a bundle is not current after a source has changed, even if its size and its time are the same', async () => {
  const source = join(folder, 'packages/a.ts')
  const bundles = join(folder, '.cache/bundle')
  mkdirSync(join(folder, 'packages'))
  mkdirSync(join(bundles, 'x'), { recursive: true })
  writeFileSync(source, 'one')
  utimesSync(source, 1, 1)
  const settled = async (): Promise<string> =>
    await until(() => stateOf(source), { what: 'the file has not just changed', limitMs: 10_000 })
  writeFileSync(join(bundles, 'x/sources.json'), JSON.stringify([['packages/a.ts', await settled()]]))
  writeFileSync(join(bundles, 'current'), 'x\n')
  expect(currentBundle(folder)).toBe(join(bundles, 'x'))
  writeFileSync(source, 'two')
  utimesSync(source, 1, 1)
  expect(currentBundle(folder)).toBeUndefined()
  await settled()
  expect(currentBundle(folder)).toBeUndefined()
})
