import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFile, link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import type { ArtifactStore } from '@scanfarm/contracts'

let base: string
let run: string
let store: ArtifactStore
beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'collect-'))
  run = join(base, 'run')
  await mkdir(run)
  store = openArtifactStore({ kind: 'folder', folder: join(base, 'store'), fsync: false })
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  await rm(base, { recursive: true, force: true })
})

let serial = 0
const collect = (path: string, more: { maxBytes?: number; contentType?: 'json' | 'folder' } = {}) =>
  collectArtifact(store, {
    path,
    roots: [run],
    keyPrefix: `k/${(serial += 1)}`,
    maxBytes: 1_000_000,
    ...more,
  })
const bytesOf = async (key: string) => {
  const found = await store.get(key)
  return buffer(found?.body ?? Readable.from([]))
}

test('A file is copied with its size, hash and lines', async () => {
  const path = join(run, 'ports.jsonl')
  await writeFile(path, '{"a":1}\n{"b":2}\n{"c":3}')
  const found = await collect(path)
  expect(found).toMatchObject({ kind: 'stored', contentType: 'jsonl', sizeBytes: 23, lineCount: 3 })
  await writeFile(path, 'changed later')
  const bytes = await bytesOf(`k/${serial}/ports.jsonl`)
  expect(bytes.toString()).toBe('{"a":1}\n{"b":2}\n{"c":3}')
  expect(found).toMatchObject({ sha256: createHash('sha256').update(bytes).digest('hex') })
})

test.each([
  ['', 0],
  ['\n', 1],
  ['one', 1],
  ['one\n', 1],
  ['one\ntwo', 2],
  ['x\n'.repeat(100_000), 100_000],
])('Lines of a text are counted (case %#)', async (text, lines) => {
  const path = join(run, 'lines.txt')
  await writeFile(path, text)
  expect(await collect(path)).toMatchObject({ lineCount: lines, sizeBytes: text.length })
})

test('Lines of an image are not counted, and the content type of the workflow overrides the extension', async () => {
  await writeFile(join(run, 'p.png'), 'a\nb\n')
  expect(await collect(join(run, 'p.png'))).toMatchObject({ contentType: 'png', lineCount: 0 })
  await writeFile(join(run, 'plain'), '[]\n')
  expect(await collect(join(run, 'plain'), { contentType: 'json' })).toMatchObject({
    contentType: 'json',
    lineCount: 1,
  })
  expect(await collect(join(run, 'plain'), { contentType: 'folder' })).toMatchObject({
    contentType: 'unknown',
  })
})

test('Links, paths outside the run and hard links are refused', async () => {
  const secret = join(base, 'secret')
  await writeFile(secret, 'secret')
  await symlink(secret, join(run, 'link'))
  await symlink(base, join(run, 'door'))
  await link(secret, join(run, 'second-name'))
  expect(await collect(join(run, 'link'))).toEqual({ kind: 'refused', reason: 'it is a symbolic link' })
  expect(await collect(join(run, 'door'))).toEqual({ kind: 'refused', reason: 'it is a symbolic link' })
  await rm(join(run, 'second-name'))
  expect(await collect(join(run, 'door/secret'))).toEqual({
    kind: 'refused',
    reason: "it is outside the run's folders",
  })
  await link(secret, join(run, 'second-name'))
  expect(await collect(join(run, 'second-name'))).toMatchObject({
    reason: expect.stringContaining('hard link'),
  })
  expect(await collect(secret)).toMatchObject({ kind: 'refused' })
  expect(await collect(join(run, '../secret'))).toMatchObject({ kind: 'refused' })
  expect(await collect(run)).toMatchObject({ reason: "it is outside the run's folders" })
  expect(await collect('/etc/passwd')).toMatchObject({ reason: "it is outside the run's folders" })
})

test('Pipes, sockets and devices are refused without waiting for them', async () => {
  execFileSync('mkfifo', [join(run, 'pipe')])
  const server = createServer().listen(join(run, 'socket'))
  const refusal = { kind: 'refused', reason: 'it is neither a regular file nor a folder' }
  expect(await collect(join(run, 'pipe'))).toEqual(refusal)
  expect(await collect(join(run, 'socket'))).toEqual(refusal)
  await new Promise((resolve) => server.close(resolve))
})

test('A missing file and one that is too large are refused with the reason', async () => {
  expect(await collect(join(run, 'none.txt'))).toEqual({ kind: 'refused', reason: 'there is no such file' })
  await writeFile(join(run, 'big.txt'), 'x'.repeat(11))
  expect(await collect(join(run, 'big.txt'), { maxBytes: 10 })).toMatchObject({
    reason: 'it has 11 bytes, more than the 10 allowed',
  })
})

test('A file that grows while it is copied is stored with its size at the start', async () => {
  const path = join(run, 'growing.log')
  await writeFile(path, 'x'.repeat(600_000))
  const slow: ArtifactStore = {
    ...store,
    put: async (key, body) => {
      await appendFile(path, 'y'.repeat(100_000))
      return store.put(key, body)
    },
  }
  const found = await collectArtifact(slow, {
    path,
    roots: [run],
    keyPrefix: 'k/growing',
    maxBytes: 1_000_000,
  })
  expect(found).toMatchObject({ kind: 'stored', sizeBytes: 600_000, contentType: 'log' })
})

test('A folder is stored as one tar of its regular files', async () => {
  const folder = join(run, 'site')
  await mkdir(join(folder, 'deep/er'), { recursive: true })
  await writeFile(join(folder, 'index.html'), '<p>')
  await writeFile(join(folder, 'deep/er/empty'), '')
  await writeFile(join(folder, 'deep/data'), 'd'.repeat(300_000))
  await symlink('/etc/passwd', join(folder, 'passwd'))
  await symlink('/etc', join(folder, 'deep/etc'))
  expect(await collect(folder)).toMatchObject({
    kind: 'stored',
    contentType: 'folder',
    storeKey: `k/${serial}/site.tar`,
  })
  const archive = join(base, 'out.tar')
  await writeFile(archive, await bytesOf(`k/${serial}/site.tar`))
  const names = execFileSync('tar', ['tf', archive]).toString().trim().split('\n')
  expect(names).toEqual(['deep/data', 'deep/er/empty', 'index.html'])
  const data = execFileSync('tar', ['xOf', archive, 'deep/data'])
  expect(data.length).toBe(300_000)
})

test('A folder that is too large is refused and leaves nothing in the store', async () => {
  expect(await collect(join(run, 'site'), { maxBytes: 1000 })).toMatchObject({
    kind: 'refused',
    reason: 'the folder has more than 1000 bytes',
  })
  expect(await store.size(`k/${serial}/site.tar`)).toBeUndefined()
})

test('A failing store rejects the collection instead of refusing the artifact', async () => {
  await writeFile(join(run, 'fine.txt'), 'fine')
  const failing: ArtifactStore = {
    ...store,
    put: async (_key, body) => {
      body.pipe(new PassThrough()).destroy()
      body.destroy()
      throw new Error('disk full')
    },
  }
  const request = { path: join(run, 'fine.txt'), roots: [run], keyPrefix: 'k/fails', maxBytes: 10 }
  await expect(collectArtifact(failing, request)).rejects.toThrow('disk full')
})

test('A tar contains files whose names are not UTF-8 under escaped names', async () => {
  const folder = join(run, 'odd-names')
  await mkdir(folder)
  const odd = (...parts: (string | number[])[]): Buffer =>
    Buffer.concat([Buffer.from(`${folder}/`), ...parts.map((part) => Buffer.from(part as string))])
  await writeFile(odd('caf', [0xe9], '.txt'), 'latin')
  await writeFile(odd('grün.txt'), 'utf8')
  await mkdir(odd([0xff, 0xfe]))
  await writeFile(odd([0xff, 0xfe], '/in.txt'), 'inside')
  const found = await collect(folder)
  if (found.kind !== 'stored') throw new Error(found.reason)
  const kept = await store.get(found.storeKey)
  const listing = execFileSync('tar', ['-tf', '-', '--quoting-style=literal'], {
    input: await buffer(kept?.body ?? Readable.from([])),
  })
  const names = listing.toString().trim().split('\n').sort()
  expect(names).toEqual(['\\xff\\xfe/in.txt', 'caf\\xe9.txt', 'grün.txt'].sort())
})
