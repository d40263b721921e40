import { link, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { RACE_TRIES, raceSwapper } from '@scanfarm/testing'
import { openTargetFile } from '../../src/submission/target-file.ts'

const UPLOAD = 'uploads/0123456789abcdef-list.txt'
const store = {
  get: async (key: string) =>
    key === UPLOAD ? { size: 2, body: Readable.from([Buffer.from('up')]) } : undefined,
}

let folder = ''
let inside = ''

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-targets-'))
  inside = join(folder, 'lists')
  await mkdir(join(inside, 'deep'), { recursive: true })
  await writeFile(join(inside, 'deep/good.txt'), 'good')
  await writeFile(join(folder, 'secret.txt'), 'secret')
  await symlink(join(folder, 'secret.txt'), join(inside, 'link.txt'))
  await symlink(folder, join(inside, 'way'))
})
afterAll(() => rm(folder, { recursive: true }))

const read = async (path: string, folders = [inside]): Promise<string> =>
  text(await openTargetFile(path, store, folders))

const refusal = async (path: string, folders?: string[]): Promise<string> =>
  read(path, folders).then(
    () => 'no refusal',
    (error: Error) => error.message,
  )

describe('a target file', () => {
  test('a file below the folders of the settings is read, also if the folder itself is a link', async () => {
    expect(await read(join(inside, 'deep/good.txt'))).toBe('good')
    await symlink(inside, join(folder, 'alias'))
    expect(await read(join(folder, 'alias/deep/good.txt'), [join(folder, 'alias')])).toBe('good')
  })

  test('an upload is read by its path', async () => {
    expect(await read(UPLOAD)).toBe('up')
    expect(await refusal('uploads/0123456789abcdef-gone.txt')).toMatch('is not an existing upload')
  })

  test.each([
    '/etc/passwd',
    'list.txt',
    'uploads/other.txt',
    '/uploads/0123456789abcdef-list.txt',
    '~/list',
    '',
  ])('a path outside the folders is refused: %s', async (path) => {
    expect(await refusal(path)).toBe(
      'target_file: must be a path returned by POST /upload-file, or a file below a folder of the setting target_file.folders',
    )
  })

  test('a path with ".." is refused', async () => {
    expect(await refusal(join(inside, 'deep') + '/../../secret.txt')).toBe(
      'target_file: must not contain ".."',
    )
    expect(await refusal('uploads/../0123456789abcdef-list.txt')).toBe('target_file: must not contain ".."')
  })

  test('a link and a file behind a link are refused', async () => {
    expect(await refusal(join(inside, 'link.txt'))).toBe('target_file: contains a symbolic link')
    expect(await refusal(join(inside, 'way/secret.txt'))).toBe('target_file: contains a symbolic link')
  })

  test('a missing file and a file that is not regular are refused', async () => {
    expect(await refusal(join(inside, 'deep'))).toBe('target_file: is not a regular file')
    expect(await refusal(join(inside, 'none.txt'))).toBe('target_file: does not exist')
    expect(await refusal(`${inside}/a\0b`)).toBe('target_file: must not contain NUL')
  })

  test('a hard link is accepted: who can create it can read the file', async () => {
    await link(join(inside, 'deep/good.txt'), join(inside, 'twin.txt'))
    expect(await read(join(inside, 'twin.txt'))).toBe('good')
  })

  test('no other file is read while a process swaps a folder with a link', async () => {
    const foreign = join(folder, 'foreign')
    await mkdir(foreign)
    await writeFile(join(foreign, 'good.txt'), 'secret')
    await mkdir(join(inside, 'swapped'))
    await writeFile(join(inside, 'swapped/good.txt'), 'good')
    const seen = new Set<string>()
    const successes = await raceSwapper(
      { folder: join(inside, 'swapped'), target: foreign, tries: RACE_TRIES },
      async () => void seen.add(await read(join(inside, 'swapped/good.txt'))),
    )
    expect(successes).toBeGreaterThan(0)
    expect([...seen]).toEqual(['good'])
  }, 120_000)
})
