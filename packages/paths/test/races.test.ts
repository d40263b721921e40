import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { entriesBelow, Folder, openBelow, removeTree } from '@scanfarm/paths'
import { RACE_TRIES, raceSwapper } from '@scanfarm/testing'

const SECRET = 'secret of another user'
const MINE = 'mine'
const TEST_MS = 600_000

let base: string
let root: string
let foreign: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'races-'))
  root = join(base, 'root')
  foreign = join(base, 'foreign')
  for (const folder of [root, foreign, join(root, 'd')]) mkdirSync(folder)
  writeFileSync(join(foreign, 'file'), SECRET)
  writeFileSync(join(root, 'd/file'), MINE)
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const expectUntouched = (): void => {
  expect(readdirSync(foreign)).toEqual(['file'])
  expect(readFileSync(join(foreign, 'file'), 'utf8')).toBe(SECRET)
}

const race = async (attempt: () => Promise<void>): Promise<void> => {
  const options = { folder: join(root, 'd'), target: foreign, tries: RACE_TRIES }
  expect(await raceSwapper(options, attempt)).toBeGreaterThan(0)
}

test(
  'a file that is read is never one outside of the root',
  async () => {
    const seen = new Set<string>()
    await race(async () => {
      const { folder, name } = await openBelow(join(root, 'd/file'), [root])
      using _ = folder
      using handle = folder.entry(name)
      await using file = await handle.open()
      seen.add(await file.readFile('utf8'))
    })
    expect([...seen]).toEqual([MINE])
  },
  TEST_MS,
)

test(
  'a file that is written, and a folder that is made, are never outside of the root',
  async () => {
    await race(async () => {
      const { folder, name } = await openBelow(join(root, 'd/made/written'), [root], { make: {} })
      using _ = folder
      await folder.replace(name, async (file) => await file.writeFile(MINE))
    })
    expectUntouched()
  },
  TEST_MS,
)

test(
  'a listing never contains what is outside of the root',
  async () => {
    const seen = new Set<string>()
    await race(async () => {
      using folder = Folder.at(root)
      for await (const { handle } of entriesBelow(folder)) {
        if (!handle.facts.isFile()) continue
        await using file = await handle.open()
        seen.add(await file.readFile('utf8'))
      }
    })
    expect([...seen]).toEqual([MINE])
  },
  TEST_MS,
)

test(
  'a removal never removes what is outside of the root',
  async () => {
    await race(async () => {
      const { folder } = await openBelow(join(root, 'd/made/entry'), [root], { make: {} })
      folder[Symbol.dispose]()
      using parent = Folder.at(root)
      await removeTree(parent, 'd')
    })
    expectUntouched()
  },
  TEST_MS,
)
