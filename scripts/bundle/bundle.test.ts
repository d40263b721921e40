import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { scriptOf, type CacheName } from '../../packages/cli/src/commands/client.ts'
import { HELPS, storedAnswer } from './answers.ts'
import { flagsOf } from './build.ts'
import { currentBundle, sourcesOf, stateOf, type BundleSources } from './current.ts'

const ROOT = join(import.meta.dirname, '../..')
const SCANFARM = join(ROOT, 'scripts/scanfarm')
const folder = mkdtempSync(join(tmpdir(), 'scanfarm-bundle-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Libraries of servers, of stores, of machines elsewhere, of schemas and of functions that few runs call. */
const HEAVY =
  /\/(?:dockerode|ssh2|@aws-sdk|@azure|kysely|pg|express|bullmq|ioredis|winston|prom-client|typebox|re2js|htmlparser2|google-auth-library)\//

/** Code that loads a library when it is needed. */
const LATER = /^late:/

interface Output {
  readonly inputs: Readonly<Record<string, { readonly bytesInOutput: number }>>
  readonly imports: readonly { readonly path: string; readonly external?: boolean }[]
}

const loaded = (bundle: string, name: string): string[] => {
  const outputs = JSON.parse(readFileSync(join(bundle, 'inputs.json'), 'utf8')) as Record<string, Output>
  const [, output] = Object.entries(outputs).find(([path]) => path.endsWith(`/${name}.js`)) ?? []
  return Object.entries(output?.inputs ?? {}).flatMap(([path, { bytesInOutput }]) =>
    bytesInOutput > 0 ? [path] : [],
  )
}

const scanfarm = (args: readonly string[], cwd: string, options = ''): string =>
  execFileSync(SCANFARM, args, { cwd, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: options } })

test('the version, exec and lists load none of the libraries of servers, and nothing else for the version', () => {
  expect(scanfarm(['--version'], '/')).toBe('0.1.0\n')
  const bundle = currentBundle(ROOT) ?? ''
  const [start = [], exec = [], client = []] = ['start', 'exec', 'client'].map((name) => loaded(bundle, name))
  expect(exec).toContain('packages/engine/src/execute.ts')
  expect(client).toContain('packages/cli/src/commands/runs/runs.ts')
  expect([...start, ...exec, ...client].filter((path) => HEAVY.test(path) && !LATER.test(path))).toEqual([])
  expect(start.filter((path) => path.includes('node_modules'))).toEqual([])
  expect(start.length).toBeLessThan(20)
})

test('the program contains the manifest of tools as it was read', () => {
  scanfarm(['--version'], '/')
  const program = readFileSync(join(currentBundle(ROOT) ?? '', 'main.js'), 'utf8')
  const found = ['Shell of the steps', '../infra/tools.yaml'].map((text) => program.includes(text))
  expect(found).toEqual([true, false])
  expect(() => execFileSync(SCANFARM, ['tools', 'install', 'nmpa'], { stdio: 'pipe' })).toThrow(
    'the manifest has no tool nmpa: did you mean nmap?',
  )
})

test('a start calls no other program, unless the lockfile is newer than the bundle', () => {
  const root = join(folder, 'checkout')
  const [bundle, lock] = [join(root, '.cache/bundle/x'), join(root, 'pnpm-lock.yaml')]
  for (const name of ['scanfarm', 'bootstrap.sh'])
    cpSync(join(ROOT, 'scripts', name), join(root, 'scripts', name))
  cpSync(join(currentBundle(ROOT) ?? '', 'node'), join(bundle, 'node'))
  writeFileSync(join(bundle, 'start.js'), 'console.log("started")')
  writeFileSync(join(bundle, '../current'), 'x\n')
  writeFileSync(lock, '')
  const env = { PATH: '/none' }
  const start = (): string =>
    execFileSync(join(root, 'scripts/scanfarm'), { encoding: 'utf8', env, stdio: 'pipe' })
  utimesSync(join(bundle, 'start.js'), 2, 2)
  expect(start).toThrow('node is not on PATH')
  utimesSync(lock, 1, 1)
  expect(start()).toBe('started\n')
})

test('helps of all commands are answered without their code, in the words of the program', () => {
  const words = ['findings', 'rules', 'create', '--help']
  expect(scanfarm(words, '/')).toBe(
    execFileSync(process.execPath, [join(ROOT, 'packages/cli/src/main.ts'), ...words], { encoding: 'utf8' }),
  )
  for (const option of ['--help', '-h'])
    expect(scanfarm([option], '/')).toContain('Usage: scanfarm [options]')
  const helps = JSON.parse(readFileSync(join(currentBundle(ROOT) ?? '', HELPS), 'utf8')) as object
  expect(Object.keys(helps).length).toBeGreaterThan(100)
  const folder = (): string => currentBundle(ROOT) ?? ''
  for (const other of [['constructor', '-h'], ['findings rules', '-h'], ['runs', 'x', '--help'], ['runs']])
    expect(storedAnswer(other, folder)).toBeUndefined()
})

const COMMAND_OF = {
  exec: 'exec',
  client: 'runs',
  main: 'token',
  worker: 'worker',
  server: 'server',
} as const

test('scripts take the stored functions, also of a bundle that a server with settings in files has built', () => {
  scanfarm(['--version'], '/')
  const copy = join(dirname(currentBundle(ROOT) ?? ''), `test-${process.pid}`)
  try {
    cpSync(currentBundle(ROOT) ?? '', copy, { recursive: true })
    const names = Object.keys(COMMAND_OF) as CacheName[]
    for (const name of names) rmSync(join(copy, `${name}.cache`), { force: true })
    const run = (flags: readonly string[], script: string): string =>
      execFileSync(process.execPath, [...flags, '--input-type=module', '-e', script], {
        cwd: ROOT,
        encoding: 'utf8',
        env: {
          ...process.env,
          DATABASE_URL_FILE: '/run/secrets/database',
          REDIS_URL_FILE: '/run/secrets/redis',
        },
      })
    run(flagsOf('server'), `await (await import('./scripts/bundle/build.ts')).warm('${copy}')`)
    for (const name of names)
      expect(
        run(
          flagsOf(name),
          `const { cacheOf, readCache, readScript } = await import('./scripts/bundle/run-script.ts')
process.argv.splice(1, 9, '', '${COMMAND_OF[name]}', '--help')
const { script, run } = readScript('${copy}', '${scriptOf(COMMAND_OF[name]).script}', readCache(cacheOf('${copy}', '${name}')))
await run()
console.log(script)`,
        ),
      ).toMatch(/^Usage: scanfarm [^]*cachedDataRejected: false/)
  } finally {
    rmSync(copy, { recursive: true, force: true })
  }
})

test.each([
  ['exec', 'packages/engine/src/expression/thread.ts', 'packages/server/src/start-server.ts'],
  ['client', 'packages/client/src/transport.ts', 'packages/engine/src/execute.ts'],
] as const)(
  '%s is built again after changes of sources that it can load, and of no others',
  (name, one, other) => {
    scanfarm(['--version'], '/')
    const bundle = currentBundle(ROOT) ?? ''
    const sources = JSON.parse(readFileSync(join(bundle, sourcesOf(name)), 'utf8')) as BundleSources
    const paths = sources.map(([path]) => path)
    const own = [...loaded(bundle, 'start'), ...loaded(bundle, name)]
    const expected = own.filter((path) => /^(?:packages|scripts)\/.*\.ts$/.test(path))
    expect(paths).toEqual(expect.arrayContaining([...expected, 'pnpm-lock.yaml', 'infra/tools.yaml', one]))
    expect(paths).not.toContain(other)
  },
)

test('exec runs from the bundle in any folder', () => {
  const file = join(folder, 'one.yaml')
  const steps = '[{ name: a, type: bash, command: "echo ={{target}}=" }]'
  writeFileSync(file, `kind: module\nname: one\nsteps: ${steps}\n`)
  const hook = join(folder, 'hook.cjs')
  writeFileSync(hook, `process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))`)
  for (const cwd of ['/', folder]) {
    const args = ['exec', file, '-t', 'example.com', '-W', join(folder, 'out')]
    const output = scanfarm(args, cwd, `--require ${hook}`)
    expect(output).toMatch(/^=example\.com=$[^]*^NativeModule child_process$/m)
    expect(output).not.toMatch(/^NativeModule (?:crypto|dns|worker_threads|zlib)$/m)
  }
})

const USES_LATE_LIBRARIES = `kind: module
name: late
steps:
  - { name: http, type: function, function: 'log_info("status {{TargetStatusCode}}")' }
  - { name: zip, type: function, function: 'log_info("body " + http_get("{{target}}").response_body)' }
  - name: csv
    type: function
    functions:
      - save_content("name,port\\nweb,80\\nweb,80\\n", "a.csv")
      - csv_to_jsonl("a.csv", "a.jsonl")
      - jsonl_unique("a.jsonl", "b.jsonl", "name")
      - log_info(read_file("b.jsonl"))
  - { name: pattern, type: function, function: 'log_info("matches " + regex_match("^w[a-z]+$", "web"))' }
  - { name: thread, type: function, function: 'log_info("sum " + [1, 2].map((x) => x * 2).join("+"))' }
  - name: xml
    type: function
    functions:
      - save_content("<nmaprun><host><address addr='192.0.2.7'/><ports><port protocol='tcp' portid='80'><state state='open'/></port></ports></host></nmaprun>", "n.xml")
      - nmap_ports_to_jsonl("n.xml", "n.jsonl")
      - log_info(read_file("n.jsonl"))
`

test('exec loads libraries and built-in modules that it does not always need', async () => {
  const file = join(folder, 'late.yaml')
  writeFileSync(file, USES_LATE_LIBRARIES)
  await using server = createServer((_, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('unzipped'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const args = ['exec', file, '-t', url, '-W', join(folder, 'out'), '--param', 'heuristics_check=advanced']
  const { stdout } = await promisify(execFile)(SCANFARM, args)
  expect(stdout).toContain('[INFO] status 200')
  expect(stdout).toContain('[INFO] body unzipped')
  expect(stdout).toContain('[INFO] {"name":"web","port":"80"}')
  expect(stdout).toContain('[INFO] matches true')
  expect(stdout).toContain('[INFO] sum 2+4')
  expect(stdout).toContain('[INFO] {"host":"192.0.2.7"')
})

test('exec checks settings', async () => {
  const run = promisify(execFile)(SCANFARM, ['exec', 'any'], {
    env: { ...process.env, SCANFARM_RUNS_CANCEL_GRACE_MS: 'soon' },
  })
  await expect(run).rejects.toThrow('SCANFARM_RUNS_CANCEL_GRACE_MS')
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
