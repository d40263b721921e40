import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { RACE_TRIES, raceSwapper } from '@scanfarm/testing'
import { pack } from 'tar-stream'
import { packPath, unpackInto } from '../src/folder-archive.ts'
import { ReceivedFiles } from '../src/received-files.ts'
import { sentFiles } from '../src/sent-files.ts'

const SECRET = 'secret of the worker'
const TEST_MS = 600_000
const { signal } = new AbortController()

let base: string
let root: string
let foreign: string
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'runner-races-'))
  root = join(base, 'run')
  foreign = join(base, 'foreign')
  for (const folder of [root, foreign, join(root, 'd')]) mkdirSync(folder)
  writeFileSync(join(foreign, 'file'), SECRET)
  writeFileSync(join(root, 'd/file'), 'mine')
})
afterEach(() => rmSync(base, { recursive: true, force: true }))

const context = () => ({ runUuid: 'u', attempt: 1, folder: root, marker: 'm', signal, log: () => {} })

const race = async (attempt: () => Promise<unknown>): Promise<void> => {
  const options = { folder: join(root, 'd'), target: foreign, tries: RACE_TRIES }
  expect(await raceSwapper(options, attempt)).toBeGreaterThan(0)
}

test.each(['d/file', ''])(
  'a container receives no file from elsewhere while a process swaps a folder with a link: "%s"',
  async (path) => {
    const seen = new Set<boolean>()
    await race(async () => {
      const sent = await text(Readable.from(packPath(join(root, path), context(), signal)))
      seen.add(sent.includes(SECRET))
    })
    expect([...seen]).toEqual([false])
  },
  TEST_MS,
)

test(
  'an ssh host receives no file from elsewhere while a process swaps a folder with a link',
  async () => {
    const seen = new Set<string>()
    await race(async () => {
      for await (const { handle } of sentFiles(root, context())) {
        if (!handle.facts.isFile()) continue
        await using file = await handle.open()
        seen.add(await file.readFile('utf8'))
      }
    })
    expect([...seen]).toEqual(['mine'])
  },
  TEST_MS,
)

test(
  'files from a container or ssh host are not written elsewhere while a process swaps a folder with a link',
  async () => {
    await race(async () => {
      const archive = pack()
      archive.entry({ name: 'd/file' }, 'received')
      archive.entry({ name: 'd/deep/file' }, 'received')
      archive.finalize()
      await unpackInto(root, join(root, 'd'), archive, signal)
    })
    await race(async () => {
      await using file = await new ReceivedFiles(root).file(join(root, 'd/other'))
      await file.writeFile('received')
    })
    expect(readdirSync(foreign)).toEqual(['file'])
    expect(readFileSync(join(foreign, 'file'), 'utf8')).toBe(SECRET)
  },
  TEST_MS,
)
