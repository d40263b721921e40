import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { readManifest } from '@scanfarm/tools'
import { parse } from 'yaml'
import { listen } from '@scanfarm/testing'
import { runCaptured } from './captured-terminal.ts'

const ROOT = join(import.meta.dirname, '../../..')
const run = promisify(execFile)

let base = ''
let manifest = ''
let sha256 = ''
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'scanfarm-tools-command-'))
  await chmod(base, 0o755)
  const archive = await makeArchive('1.2.0')
  sha256 = createHash('sha256')
    .update(await readFile(archive))
    .digest('hex')
  manifest = join(base, 'tools.yaml')
  await writeFile(manifest, manifestOf())
})
afterEach(() => rm(base, { recursive: true }))

/** A program that prints its version, in the folder that serves as a mirror. */
const makeArchive = async (version: string): Promise<string> => {
  const folder = join(base, 'stage', `scan-${version}`)
  await mkdir(folder, { recursive: true })
  await mkdir(join(base, 'mirror'), { recursive: true })
  await writeFile(join(folder, 'scan'), `#!/bin/bash\necho "scan version ${version}"\n`)
  const archive = join(base, 'mirror', `scan-${version}.tar.gz`)
  await run('tar', ['-czf', archive, '-C', join(base, 'stage'), `scan-${version}`])
  return archive
}

const manifestOf = (): string =>
  JSON.stringify({
    tools: {
      scan: {
        purpose: 'scans',
        home: 'http://scan.invalid',
        license: 'MIT',
        version: '1.2.0',
        release: {
          url: 'http://releases.invalid/scan-{version}.tar.gz',
          program: 'scan-{version}/scan',
          sha256: { any: sha256 },
        },
        ask: { args: ['-v'], pattern: 'scan version (\\S+)' },
      },
      'scanfarm-test-package': {
        purpose: 'no program has this name',
        home: 'http://scan.invalid',
        license: 'MIT',
        version: '1.0',
        debian: 'scanfarm-test-package',
        ask: { args: ['-v'], pattern: '(.+)' },
      },
    },
  })

const settings = () => ({
  SCANFARM_DATA_DIR: join(base, 'farm'),
  SCANFARM_FOLDERS_BASE: join(base, 'base'),
  SCANFARM_TOOLS_MANIFEST: manifest,
})
const program = () => join(base, 'base/external-binaries/scan')

const tools = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
  runCaptured(['tools', ...args], { ...settings(), ...env })

const mirror = () => ['--mirror', join(base, 'mirror')]

test('every program that a shipped workflow requires is in the manifest', () => {
  const known = readManifest()
  const required = globSync('workflows/**/*.yaml', { cwd: ROOT }).flatMap((file) => {
    const { dependencies } = parse(readFileSync(join(ROOT, file), 'utf8')) as {
      dependencies?: { commands?: string[] }
    }
    return (dependencies?.commands ?? []).map((name) => `${file}: ${name}`)
  })
  expect(required.length).toBeGreaterThan(5)
  expect(required.filter((line) => !known.has(line.replace(/.*: /, '')))).toEqual([])
})

describe('scanfarm tools', () => {
  test('install puts a release file in place, list shows it, verify finds what was altered', async () => {
    expect((await tools(['list', 'scan'])).out).toMatch(/^scan +missing +1\.2\.0 +release *$/m)
    expect(await tools(['verify', 'scan'])).toMatchObject({
      code: 1,
      out: 'scan: is missing: install it\n',
      err: 'scanfarm: 1 of 1 tools are missing, outdated or altered\n',
    })
    expect(await tools(['install', 'scan', ...mirror()])).toEqual({
      code: 0,
      out: `scan: version 1.2.0 installed: ${program()}\n`,
      err: 'scan 1.2.0: downloading\n',
    })
    expect((await tools(['install', 'scan', ...mirror()])).out).toBe(
      `scan: version 1.2.0 was installed: ${program()}\n`,
    )
    const listed = await tools(['list', 'scan', '--json'])
    expect(JSON.parse(listed.out)).toEqual([
      expect.objectContaining({
        name: 'scan',
        state: 'ok',
        version: '1.2.0',
        path: program(),
        managed: true,
      }),
    ])
    expect(await tools(['verify', 'scan'])).toMatchObject({
      code: 0,
      out: 'scan: ok, version 1.2.0 (version and files checked)\n',
    })
    await writeFile(program(), '#!/bin/bash\necho "scan version 1.2.0"; curl evil.invalid\n')
    expect(await tools(['verify', 'scan'])).toMatchObject({
      code: 1,
      out: `scan: altered since the installation: ${program()}\n`,
    })
  })

  test('facts shows what was seen of a tool, and that one was not tried', async () => {
    const found = await tools(['facts', 'whatweb', 'scan'])
    expect(found).toMatchObject({ code: 0, err: '' })
    expect(found.out).toMatch(/^whatweb\n  version tried: [\d.]+\n/)
    expect(found.out).toContain('redirects to other hosts: follows; --follow-redirect=same-site forbids it\n')
    expect(found.out).toMatch(/\nscan: it was not tried\n$/)
    expect(JSON.parse((await tools(['facts', 'whatweb', '--json'])).out)).toMatchObject({
      whatweb: { redirects: { follows: true } },
    })
    expect(await tools(['facts', 'whatweeb'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('did you mean whatweb?'),
    })
  })

  test('install takes the tools of a workflow, with the mirror of the settings', async () => {
    const flow = join(base, 'flow.yaml')
    const text =
      'kind: module\nname: flow\ndependencies: { commands: [scan, bash] }\nsteps: [{ name: a, type: bash, command: scan }]\n'
    await writeFile(flow, text)
    const env = { SCANFARM_TOOLS_MIRROR: join(base, 'mirror') }
    const { code, out } = await tools(['install', '--flow', flow], env)
    expect(code).toBe(0)
    expect(out).toMatch(/^bash: version \d\S+ was there: \S+\nscan: version 1\.2\.0 installed: /)
    await writeFile(flow, text.replace('[scan, bash]', '[scan, nonesuch]'))
    expect(await tools(['install', '--flow', flow], env)).toMatchObject({
      code: 2,
      err: expect.stringContaining('needs nonesuch, which the manifest does not have: put the program into'),
    })
  })

  test('install continues after a tool that cannot be installed, and ends with exit code 1', async () => {
    const archive = join(base, 'mirror/scan-1.2.0.tar.gz')
    await rm(archive)
    const { code, err } = await tools(['install', 'scan', ...mirror()])
    expect(code).toBe(1)
    expect(err).toContain(
      `${archive} cannot be read: it does not exist\nscanfarm: not all tools were installed\n`,
    )
  })

  test('install for another architecture does not run the program', async () => {
    const other = process.arch === 'arm64' ? 'amd64' : 'arm64'
    expect(await tools(['install', 'scan', '--arch', other, ...mirror()])).toMatchObject({ code: 0 })
    const { err } = await tools(['install', 'scanfarm-test-package', '--arch', other])
    expect(err).toBe('for another architecture, no Debian packages are installed: scanfarm-test-package\n')
  })

  test('install says which Debian packages root must install', async () => {
    const root = process.getuid?.() === 0
    const main = join(ROOT, 'packages/cli/src/main.ts')
    const failed = run(process.execPath, [main, 'tools', 'install', 'scanfarm-test-package'], {
      env: { ...settings(), SCANFARM_FOLDERS_BASE: join(base, 'other'), PATH: '/usr/bin:/bin' },
      ...(root ? { uid: 65_534, gid: 65_534 } : {}),
    })
    await expect(failed).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'install the Debian packages as root: apt-get install --no-install-recommends scanfarm-test-package\n',
      ),
    })
  })

  test('mirror fills a folder through the proxy of the environment', async () => {
    const archive = await readFile(join(base, 'mirror/scan-1.2.0.tar.gz'))
    const seen: string[] = []
    const origin = createServer((_, response) => void response.end(archive))
    const port = await listen(origin)
    const proxy = createServer()
    proxy.on('connect', (incoming, socket) => {
      seen.push(String(incoming.url))
      const tunnel = connect(port, '127.0.0.1')
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      socket.pipe(tunnel).pipe(socket)
    })
    const address = `http://127.0.0.1:${await listen(proxy)}`
    const folder = join(base, 'new')
    try {
      expect(await tools(['mirror', folder, 'scan'], { HTTP_PROXY: address })).toEqual({
        code: 0,
        out: `${join(folder, 'scan-1.2.0.tar.gz')}: downloaded\n`,
        err: 'scan 1.2.0: downloading\n',
      })
    } finally {
      for (const server of [proxy, origin]) server.close().closeAllConnections()
    }
    expect(seen).toEqual(['releases.invalid:80'])
    expect((await readFile(join(folder, 'scan-1.2.0.tar.gz'))).equals(archive)).toBe(true)
  })

  test.each([
    [['install'], 'name the tools to install, or give either --flow or --all'],
    [['install', 'scan', '--all'], 'name the tools to install, or give either --flow or --all'],
    [['install', 'nuclie'], 'the manifest has no tool nuclie: did you mean nuclei?'],
    [['list', 'scan', '--flow', 'x'], 'give either names of tools or --flow'],
    [['list', '--manifest', '/nonexistent'], '/nonexistent cannot be read: it does not exist'],
    [['install', 'scan', '--arch', 's390x'], 'Allowed choices are amd64, arm64'],
  ])('%j is refused', async (args, message) => {
    expect(await tools(args)).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  })
})
