import { execFileSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { entriesBelow, Folder, openBelow, RefusedPath, removeFolderAt } from '@scanfarm/paths'

let base: string
let root: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'paths-'))
  root = join(base, 'root')
  mkdirSync(join(root, 'a/b'), { recursive: true })
  writeFileSync(join(base, 'outside'), 'outside')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const parentOf = async (path: string): Promise<string> => {
  const { folder, name } = await openBelow(path, [root])
  using _ = folder
  return join(folder.shownPath, name)
}

test('links are followed below the roots, and refused to other places', async () => {
  symlinkSync('a', join(root, 'inside'))
  symlinkSync('..', join(root, 'a/up'))
  symlinkSync(base, join(root, 'out'))
  symlinkSync('round', join(root, 'round'))
  expect(await parentOf(join(root, 'inside/up/a/b/x'))).toBe(join(root, 'a/b/x'))
  await expect(parentOf(join(root, 'out/outside'))).rejects.toThrow(RefusedPath)
  await expect(parentOf(join(root, '../outside'))).rejects.toThrow(RefusedPath)
  await expect(parentOf(join(base, 'outside'))).rejects.toThrow('is outside of')
  await expect(parentOf(join(root, 'round/x'))).rejects.toThrow('more than 40 links')
})

test('a name that would leave the folder is refused', () => {
  using folder = Folder.at(root)
  for (const name of ['', '..', 'a/b', '/etc', 'a\0'])
    expect(() => folder.entry(name)).toThrow('not the name of an entry')
})

test('a file is replaced only when its content is complete, and a link is not followed', async () => {
  using folder = Folder.at(root)
  symlinkSync(join(base, 'outside'), join(root, 'file'))
  const broken = folder.replace('file', async (file) => {
    await file.writeFile('half')
    throw new Error('broken')
  })
  await expect(broken).rejects.toThrow('broken')
  expect(folder.linkOf('file')).toBe(join(base, 'outside'))
  await folder.replace('file', async (file) => await file.writeFile('whole'))
  expect(readFileSync(join(root, 'file'), 'utf8')).toBe('whole')
  expect(readFileSync(join(base, 'outside'), 'utf8')).toBe('outside')
  expect((await folder.names()).map(String)).toEqual(['a', 'file'])
})

test('a device or pipe has a handle without being opened', () => {
  execFileSync('mkfifo', [join(root, 'pipe')])
  using folder = Folder.at(root)
  using handle = folder.entry('pipe')
  expect(handle.facts.isFIFO()).toBe(true)
})

test('a folder that is deeper than the longest path is removed', async () => {
  let folder = Folder.at(root)
  for (let depth = 0; depth < 3_000; depth++) {
    using above = folder
    folder = above.makeFolder('d') ?? above
  }
  folder[Symbol.dispose]()
  await removeFolderAt(root)
  expect(existsSync(root)).toBe(false)
})

test('names that are not UTF-8 are listed and removed', async () => {
  writeFileSync(Buffer.concat([Buffer.from(`${root}/caf`), Buffer.from([0xe9])]), '')
  using folder = Folder.at(root)
  const names: Buffer[] = []
  for await (const { path } of entriesBelow(folder)) names.push(path)
  expect(names.map((name) => name.toString('latin1'))).toEqual(['a', 'a/b', 'caf\u00e9'])
  await removeFolderAt(root)
  expect(existsSync(root)).toBe(false)
})

test('other work has turns while a large tree is walked', async () => {
  for (let n = 0; n < 20; n++) {
    mkdirSync(join(root, `of-${n}`))
    for (let m = 0; m < 40; m++) writeFileSync(join(root, `of-${n}`, `${m}`), '')
  }
  let turns = 0
  let next: NodeJS.Immediate | undefined
  const count = (): void => {
    turns += 1
    next = setImmediate(count)
  }
  count()
  using folder = Folder.at(root)
  expect(await Array.fromAsync(entriesBelow(folder))).toHaveLength(822)
  clearImmediate(next)
  expect(turns).toBeGreaterThan(3)
})

const asRoot = process.getuid?.() === 0 ? test : test.skip
asRoot('a link is given to a user itself, not its target', () => {
  symlinkSync(join(base, 'outside'), join(root, 'link'))
  using folder = Folder.at(root)
  using handle = folder.entry('link')
  handle.chown({ uid: 1234, gid: 1234 })
  expect(lstatSync(join(root, 'link')).uid).toBe(1234)
  expect(lstatSync(join(base, 'outside')).uid).toBe(0)
})
