import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { openArtifactStore } from '@scanfarm/artifacts'
import { artifactStoreConformance } from './conformance.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'artifacts-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

artifactStoreConformance(async () => openArtifactStore({ kind: 'folder', folder: join(folder, 'store') }))

test('A folder store leaves no half-written files and no empty folders behind', async () => {
  const root = join(folder, 'tidy')
  await using store = openArtifactStore({ kind: 'folder', folder: root, fsync: false })
  const half = async function* () {
    yield Buffer.from('half')
    throw new Error('gone')
  }
  await expect(store.put('a/b/c', Readable.from(half()))).rejects.toThrow('gone')
  const fail = async (): Promise<void> => {
    const failing: Readable = new Readable({ read: () => failing.destroy(new Error('gone')) })
    await expect(store.put('a/b/c', failing)).rejects.toThrow('gone')
  }
  // As many at once as the process has threads for files.
  for (let n = 0; n < 500; n += 1) await Promise.all([fail(), fail(), fail(), fail()])
  await store.put('d/e/f', Readable.from([Buffer.from('x')]))
  await store.remove('d/e/f')
  expect(await readdir(root)).toEqual(['~incoming'])
  expect(await readdir(join(root, '~incoming'))).toEqual([])
})

test('Files whose names are not keys are not listed', async () => {
  const root = join(folder, 'beside')
  await using store = openArtifactStore({ kind: 'folder', folder: root, fsync: false })
  await store.put('runs/a/1.log', Readable.from([Buffer.from('x')]))
  await writeFile(join(root, 'runs/a/1.log~'), 'x')
  await writeFile(join(root, 'runs/a/copy of 1.log'), 'x')
  expect((await Array.fromAsync(store.list('runs'))).map(({ key }) => key)).toEqual(['runs/a/1.log'])
  expect(await store.oldKeys('runs/a', new Date(Date.now() + 60_000), 10)).toEqual(['runs/a/1.log'])
})

test('The error of a folder store that cannot be written names the folder and the remedy', async () => {
  const file = join(folder, 'a-file')
  await writeFile(file, '')
  await chmod(file, 0o600)
  await using store = openArtifactStore({ kind: 'folder', folder: join(file, 'below') })
  await expect(store.check()).rejects.toThrow(
    /artifact folder .*a-file\/below cannot be written \(ENOTDIR.*make it writable/,
  )
})

test('A folder with the setgid bit is shared with its group, any other is private to its owner', async () => {
  const root = join(folder, 'shared')
  await mkdir(root)
  await chmod(root, 0o2770)
  for (const [at, folders, file] of [
    [root, 0o2770, 0o640],
    [join(folder, 'own'), 0o700, undefined],
  ] as const) {
    await using store = openArtifactStore({ kind: 'folder', folder: at, fsync: false })
    await store.put('a/b/c', Readable.from([Buffer.from('x')]))
    for (const path of ['a', 'a/b', '~incoming'])
      expect((await stat(join(at, path))).mode & 0o7777).toBe(folders)
    if (file !== undefined) expect((await stat(join(at, 'a/b/c'))).mode & 0o777).toBe(file)
  }
})
