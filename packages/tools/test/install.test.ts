import {
  chmod,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import {
  installTool,
  mirrorTool,
  ownArchitecture,
  parseManifest,
  statusOf,
  toolProblems,
  type Tool,
  type ToolFolders,
} from '../src/index.ts'
import { programOf, sha256, tarOf, zipOf } from './archives.ts'
import { files, startMirror, type MirrorServer } from './mirror-server.ts'

let base = ''
let folders: ToolFolders = { base: '', binaries: '', data: '' }
let mirror: MirrorServer
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'scanfarm-tools-'))
  folders = { base, binaries: join(base, 'bin'), data: join(base, 'data') }
  mirror = await startMirror(files({}))
})
afterEach(async () => {
  await mirror[Symbol.asyncDispose]()
  await rm(base, { recursive: true })
})

const ARCH = ownArchitecture()

const toolOf = (entry: object): Tool => {
  const common = { purpose: 'scans', home: 'https://scan.invalid', license: 'MIT', version: '1.2.0' }
  const ask = { args: ['-version'], pattern: 'Version: v?(\\S+)' }
  const [tool] = parseManifest(
    JSON.stringify({ tools: { scan: { ...common, ask, ...entry } } }),
    'test',
  ).values()
  if (tool === undefined) throw new Error('no tool')
  return tool
}

const programTool = (archive: Buffer, rest: object = {}): Tool =>
  toolOf({
    release: {
      url: 'https://releases.invalid/v{version}/scan_{version}_linux_{arch}.zip',
      program: 'scan',
      sha256: { [ARCH]: sha256(archive) },
    },
    ...rest,
  })

const dataTool = (archive: Buffer, version = '1.2.0'): Tool =>
  toolOf({
    version,
    ask: undefined,
    release: {
      url: 'https://releases.invalid/v{version}.tar.gz',
      folder: 'data-{version}',
      sha256: { any: sha256(archive) },
    },
  })

const PATH_OF_PROGRAM = `/v1.2.0/scan_1.2.0_linux_${ARCH}.zip`

const programArchive = (version = '1.2.0') =>
  zipOf({ name: 'LICENSE.md', text: 'MIT' }, { name: 'scan', text: programOf(version), mode: 0o100_600 })

const install = (tool: Tool, options: object = {}) =>
  installTool(tool, { folders, mirror: mirror.url, ...options })

const search = () => ({ folders, path: '/nonexistent' })

/** Nothing is left but what a successful installation has put there. */
const leftovers = async (): Promise<string[]> =>
  (await readdir(base, { recursive: true })).filter((name) => name.includes('part-'))

describe('a program in a zip', () => {
  test('is downloaded, placed where commands find it, and not downloaded again', async () => {
    const archive = await programArchive()
    const tool = programTool(archive)
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    const progress: [number, number | undefined][] = []
    const onBytes = (received: number, total: number | undefined) => void progress.push([received, total])
    const path = join(folders.binaries, 'scan')
    expect(await statusOf(tool, search())).toMatchObject({ state: 'missing' })
    expect(await install(tool, { onBytes })).toEqual({ path, changed: true })
    expect((await stat(path)).mode & 0o7777).toBe(0o755)
    expect(await statusOf(tool, search())).toMatchObject({
      state: 'ok',
      version: '1.2.0',
      path,
      managed: true,
    })
    expect(await toolProblems(await statusOf(tool, search()), folders)).toEqual([])
    expect(progress.at(-1)).toEqual([archive.length, archive.length])
    expect(await install(tool)).toEqual({ path, changed: false })
    expect(mirror.requests).toHaveLength(1)
    expect(await leftovers()).toEqual([])
  })

  test('can be read by other users whatever the mask of the process is', async () => {
    const archive = await programArchive()
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    const before = process.umask(0o077)
    try {
      await install(programTool(archive))
    } finally {
      process.umask(before)
    }
    for (const path of [folders.binaries, join(folders.binaries, 'scan')])
      expect((await stat(path)).mode & 0o777).toBe(0o755)
  })

  test('that was altered is reported, and replaced by the next installation', async () => {
    const archive = await programArchive()
    const tool = programTool(archive)
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    const { path } = await install(tool)
    await writeFile(path, '#!/bin/bash\necho "Version: v1.2.0"\n')
    const status = await statusOf(tool, search())
    expect(status.state).toBe('ok')
    expect(await toolProblems(status, folders)).toEqual([`altered since the installation: ${path}`])
    expect(await install(tool)).toMatchObject({ changed: true })
    expect(await toolProblems(await statusOf(tool, search()), folders)).toEqual([])
  })

  test('is replaced when the manifest names another version', async () => {
    const [old, next] = [await programArchive(), await programArchive('1.3.0')]
    mirror.answer = files({ [PATH_OF_PROGRAM]: old, [PATH_OF_PROGRAM.replaceAll('1.2.0', '1.3.0')]: next })
    await install(programTool(old))
    const newer = programTool(next, { version: '1.3.0' })
    const status = await statusOf(newer, search())
    expect(status).toMatchObject({ state: 'outdated', version: '1.2.0' })
    expect(await toolProblems(status, folders)).toEqual([
      expect.stringContaining('is version 1.2.0, and 1.3.0 is needed'),
      expect.stringContaining('not the release file of the manifest'),
    ])
    await install(newer)
    expect(await statusOf(newer, search())).toMatchObject({ state: 'ok', version: '1.3.0' })
  })

  test('does not replace a program of the operator, unless that is forced', async () => {
    const archive = await programArchive()
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    const path = join(folders.binaries, 'scan')
    await mkdir(folders.binaries)
    await writeFile(path, 'my own')
    await chmod(path, 0o755)
    await expect(install(programTool(archive))).rejects.toThrow(`${path} was not installed by this program`)
    expect(await readFile(path, 'utf8')).toBe('my own')
    expect(mirror.requests).toEqual([])
    await install(programTool(archive), { force: true })
    expect(await statusOf(programTool(archive), search())).toMatchObject({ state: 'ok', managed: true })
  })

  test('is downloaded once by installations at the same time', async () => {
    const archive = await programArchive()
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    const done = await Promise.all(Array.from({ length: 4 }, () => install(programTool(archive))))
    expect(done.filter(({ changed }) => changed)).toHaveLength(1)
    expect(mirror.requests).toHaveLength(1)
    expect(await leftovers()).toEqual([])
  })

  test('for an architecture without a release file is refused', async () => {
    const archive = await programArchive()
    await expect(install(programTool(archive), { architecture: 'riscv64' })).rejects.toThrow(
      `scan has no release file for riscv64, only for ${ARCH}`,
    )
  })
})

describe('a download', () => {
  const failing = async (archive: Buffer, message: string | RegExp, options: object = {}) => {
    await expect(install(programTool(archive), options)).rejects.toThrow(message)
    expect(await leftovers()).toEqual([])
    expect(await readdir(folders.binaries)).toEqual([])
  }

  let answer: ServerResponse | undefined
  /** Sends 1,000 bytes, and no more until `lose` closes the connection. */
  const sendPart = (archive: Buffer, response: ServerResponse): void => {
    answer = response.writeHead(200, { 'content-length': archive.length })
    response.write(archive.subarray(0, 1_000))
  }
  const lose = (): void => void answer?.destroy()

  test('with another checksum is refused', async () => {
    const archive = await programArchive()
    mirror.answer = files({ [PATH_OF_PROGRAM]: await programArchive('6.6.6') })
    await failing(archive, `${mirror.url}${PATH_OF_PROGRAM} has the SHA-256`)
  })

  test('with another checksum leaves the installed version as it is', async () => {
    const archive = await programArchive()
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    await install(programTool(archive))
    const newer = programTool(await programArchive('1.3.0'), { version: '1.3.0' })
    mirror.answer = files({ [PATH_OF_PROGRAM.replaceAll('1.2.0', '1.3.0')]: archive })
    await expect(install(newer)).rejects.toThrow('has the SHA-256')
    expect(await toolProblems(await statusOf(programTool(archive), search()), folders)).toEqual([])
  })

  test('that was cut without a notice is refused by its checksum', async () => {
    const archive = await programArchive()
    mirror.answer = (_, response) => void response.end(archive.subarray(0, -10))
    await failing(archive, 'it was altered, cut, or is another version')
  })

  test('continues where the connection was lost', async () => {
    const archive = await programArchive()
    const whole = files({ [PATH_OF_PROGRAM]: archive })
    mirror.answer = (request, response) =>
      mirror.requests.length > 1 ? whole(request, response) : sendPart(archive, response)
    await install(programTool(archive), { onBytes: lose })
    expect(mirror.requests.map(({ headers }) => headers.range)).toEqual([undefined, 'bytes=1000-'])
  })

  test('starts again if the server only sends whole files', async () => {
    const archive = await programArchive()
    mirror.answer = (_, response) => {
      if (mirror.requests.length > 1) response.end(archive)
      else sendPart(archive, response)
    }
    await install(programTool(archive), { onBytes: lose })
    expect(mirror.requests).toHaveLength(2)
  })

  test('fails if the server stops in the middle each time', async () => {
    const archive = await programArchive()
    mirror.answer = (_, response) => sendPart(archive, response)
    await failing(archive, /1000 bytes received in 4 attempts\): try again, or use another mirror$/, {
      onBytes: lose,
    })
    expect(mirror.requests).toHaveLength(4)
  })

  test('fails if the server sends nothing more', async () => {
    const archive = await programArchive()
    mirror.answer = (_, response) => sendPart(archive, response)
    await failing(archive, /no bytes for 0\.2 s/, { stallMs: 200 })
  })

  test('that the server does not have is not tried again', async () => {
    await failing(await programArchive(), 'HTTP 404 Not Found: the server does not have this file')
    expect(mirror.requests).toHaveLength(1)
  })

  test('that is too large is refused before it is received', async () => {
    mirror.answer = (_, response) => {
      response.writeHead(200, { 'content-length': 600 * 1024 * 1024 })
      response.flushHeaders()
    }
    await failing(await programArchive(), 'is larger than 536870912 bytes')
  })

  test('is tried again while the server is overloaded', async () => {
    const archive = await programArchive()
    const whole = files({ [PATH_OF_PROGRAM]: archive })
    mirror.answer = (request, response) =>
      mirror.requests.length > 1 ? whole(request, response) : void response.writeHead(503).end()
    expect(await install(programTool(archive))).toMatchObject({ changed: true })
  })

  test('sends the login in the address of the mirror, and keeps it out of errors', async () => {
    mirror.answer = (_, response) => void response.writeHead(401).end()
    const address = `${mirror.url.replace('://', '://reader:hu%2Fsh@')}/github/`
    const failure = install(programTool(await programArchive()), { mirror: address })
    await expect(failure).rejects.toThrow(/^http:\/\/127[^@]*: HTTP 401 Unauthorized: put the login/)
    const [request] = mirror.requests
    expect(request?.headers.authorization).toBe(`Basic ${Buffer.from('reader:hu/sh').toString('base64')}`)
    expect(request?.url).toBe(`/github${PATH_OF_PROGRAM}`)
  })

  test('is removed when it is aborted', async () => {
    const archive = await programArchive()
    const abort = new AbortController()
    mirror.answer = (_, response) => sendPart(archive, response)
    await failing(archive, /aborted/, { signal: abort.signal, onBytes: () => abort.abort() })
  })

  test('names a mirror that is neither a folder nor a web server', async () => {
    await failing(await programArchive(), 'the mirror must be a folder or a URL', { mirror: 'ftp://mirror' })
  })
})

describe('an archive', () => {
  const unpacking = async (archive: Buffer, message: string) => {
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    await expect(install(programTool(archive))).rejects.toThrow(message)
    expect(await leftovers()).toEqual([])
    expect(await readdir(folders.binaries)).toEqual([])
  }

  test('with an entry that leads out of it is refused', async () => {
    await unpacking(
      await zipOf({ name: '../evil', text: 'x' }, { name: 'scan', text: programOf('1.2.0') }),
      'invalid relative path: ../evil',
    )
    const tar = await tarOf({ name: 'data-1.2.0/a' }, { name: 'data-1.2.0/../../../evil', text: 'x' })
    mirror.answer = files({ '/v1.2.0.tar.gz': tar })
    await expect(install(dataTool(tar))).rejects.toThrow(
      'an entry leads out of the archive: invalid relative path',
    )
    const absolute = await tarOf({ name: '/etc/evil', text: 'x' })
    mirror.answer = files({ '/v1.2.0.tar.gz': absolute })
    await expect(install(dataTool(absolute))).rejects.toThrow('absolute path: /etc/evil')
    expect(await leftovers()).toEqual([])
  })

  test('without the program is refused, and so is a link of this name', async () => {
    await unpacking(await zipOf({ name: 'other', text: 'x' }), 'has no file scan: correct `release.program`')
    const link = { name: 'scan', text: '/etc/shadow', mode: 0o120_777 }
    await unpacking(await zipOf(link), 'has no file scan: correct `release.program`')
  })

  test('that is none is refused', async () => {
    await unpacking(Buffer.from('<html>Sign in</html>'), 'cannot be unpacked: ')
    const cut = (await tarOf({ name: 'data-1.2.0/a', text: 'a'.repeat(100_000) })).subarray(0, 80)
    mirror.answer = files({ '/v1.2.0.tar.gz': cut })
    await expect(install(dataTool(cut))).rejects.toThrow('cannot be unpacked: unexpected end of file')
  })
})

describe('data in a tar', () => {
  const dataArchive = (version: string) =>
    tarOf(
      { name: `data-${version}/`, type: 'directory' },
      { name: `data-${version}/http/cves/one.yaml`, text: `one ${version}`, mode: 0o600 },
      { name: `data-${version}/two.yaml`, text: 'two' },
      { name: `data-${version}/shadow`, type: 'symlink', linkname: '/etc/shadow' },
      { name: 'elsewhere/three.yaml', text: 'three' },
    )

  test('is put into a separate folder, without links', async () => {
    const archive = await dataArchive('1.2.0')
    const tool = dataTool(archive)
    mirror.answer = files({ '/v1.2.0.tar.gz': archive })
    const { path } = await install(tool)
    expect(path).toBe(join(folders.data, 'scan'))
    expect((await readdir(`${path}/`, { recursive: true })).sort()).toEqual([
      'http',
      'http/cves',
      'http/cves/one.yaml',
      'two.yaml',
    ])
    expect(await readFile(join(path, 'http/cves/one.yaml'), 'utf8')).toBe('one 1.2.0')
    expect((await stat(join(path, 'http/cves/one.yaml'))).mode & 0o777).toBe(0o644)
    expect(await statusOf(tool, search())).toMatchObject({ state: 'ok', version: '1.2.0', managed: true })
    expect(await toolProblems(await statusOf(tool, search()), folders)).toEqual([])
  })

  test('reports files that were altered, removed or added', async () => {
    const archive = await dataArchive('1.2.0')
    const tool = dataTool(archive)
    mirror.answer = files({ '/v1.2.0.tar.gz': archive })
    const { path } = await install(tool)
    await writeFile(join(path, 'two.yaml'), 'other')
    await writeFile(join(path, 'http/new.yaml'), 'new')
    await rm(join(path, 'http/cves/one.yaml'))
    const [problem] = await toolProblems(await statusOf(tool, search()), folders)
    expect(problem).toMatch(/^altered since the installation: /)
    for (const name of ['two.yaml', 'http/new.yaml', 'http/cves/one.yaml'])
      expect(problem).toContain(join(path, name))
    expect(await install(tool)).toMatchObject({ changed: true })
    expect(await toolProblems(await statusOf(tool, search()), folders)).toEqual([])
  })

  test('is replaced in one step, and the last version stays for running commands', async () => {
    const versions = ['1.2.0', '1.3.0', '1.4.0']
    const archives = await Promise.all(versions.map(dataArchive))
    mirror.answer = files(
      Object.fromEntries(archives.map((archive, at) => [`/v${versions[at]}.tar.gz`, archive])),
    )
    const seen: string[] = []
    for (const [at, archive] of archives.entries()) {
      const { path } = await install(dataTool(archive, versions[at]))
      expect((await lstat(path)).isSymbolicLink()).toBe(true)
      seen.push(await realpath(path))
    }
    expect((await readdir(join(folders.data, '.scan'))).sort()).toEqual(
      seen.slice(1).map((folder) => folder.split('/').at(-1)),
    )
  })

  test('does not replace a folder of the operator', async () => {
    const archive = await dataArchive('1.2.0')
    await mkdir(join(folders.data, 'scan'), { recursive: true })
    for (const force of [false, true])
      await expect(install(dataTool(archive), { force })).rejects.toThrow(
        'is a folder that was not installed by this program: move it away',
      )
  })
})

describe('a folder as a mirror', () => {
  test('is filled from the releases, and tools are installed from it without a network', async () => {
    const archive = await programArchive()
    const tool = programTool(archive)
    mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
    const folder = join(base, 'mirror')
    const path = join(folder, PATH_OF_PROGRAM)
    expect(await mirrorTool(tool, folder, { mirror: mirror.url })).toEqual([{ path, changed: true }])
    expect(await mirrorTool(tool, folder, { mirror: mirror.url })).toEqual([{ path, changed: false }])
    expect(mirror.requests).toHaveLength(1)
    expect(await install(tool, { mirror: folder })).toMatchObject({ changed: true })
    expect(await install(tool, { mirror: `file://${folder}`, force: true })).toMatchObject({ changed: true })
    expect(mirror.requests).toHaveLength(1)
  })

  test('without the file is named with its path', async () => {
    const missing = join(base, 'empty', PATH_OF_PROGRAM)
    await expect(
      install(programTool(await programArchive()), { mirror: join(base, 'empty') }),
    ).rejects.toThrow(`${missing} cannot be read: it does not exist`)
  })
})

test('what a killed installation has left is removed by a later one', async () => {
  const archive = await programArchive()
  mirror.answer = files({ [PATH_OF_PROGRAM]: archive })
  const stale = join(folders.binaries, '.part-scan-old')
  await mkdir(stale, { recursive: true })
  await utimes(stale, 0, 0)
  await install(programTool(archive))
  expect(await leftovers()).toEqual([])
})
