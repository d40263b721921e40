import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeFolder } from '../src/index.ts'

let folder = ''
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-folder-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

test('A folder is created with its missing parents, and may already exist', async () => {
  const path = join(folder, 'a/b/c')
  await Promise.all([makeFolder(path), makeFolder(path)])
  await makeFolder(path)
  expect(statSync(path).isDirectory()).toBe(true)
})

test('A file at the path of a folder is an error', async () => {
  const file = join(folder, 'file')
  writeFileSync(file, '')
  await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' })
  await expect(makeFolder(join(file, 'below'))).rejects.toMatchObject({ code: 'ENOTDIR' })
})

test.each(['/proc/scanfarm', '/proc/scanfarm/below'])(
  'The error for the folder %s, which cannot be created, has the reason',
  async (path) => {
    await expect(makeFolder(path)).rejects.toThrow('its file system does not allow new folders')
  },
)
