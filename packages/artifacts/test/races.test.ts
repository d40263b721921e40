import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { collectArtifact, openArtifactStore } from '@scanfarm/artifacts'
import type { ArtifactStore } from '@scanfarm/contracts'
import { RACE_TRIES, raceSwapper } from '@scanfarm/testing'

const SECRET = 'secret of the worker'
const TEST_MS = 600_000

let base: string
let store: ArtifactStore
beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'artifact-races-'))
  for (const folder of ['foreign', 'run', 'run/d']) mkdirSync(join(base, folder))
  writeFileSync(join(base, 'foreign/file'), SECRET)
  writeFileSync(join(base, 'run/d/file'), 'mine')
  store = openArtifactStore({ kind: 'folder', folder: join(base, 'store'), fsync: false })
})
afterAll(async () => {
  await store[Symbol.asyncDispose]()
  rmSync(base, { recursive: true, force: true })
})

test.each(['d/file', 'd'])(
  'no file from elsewhere is stored while a process swaps a folder with a link: %s',
  async (path) => {
    const seen = new Set<boolean>()
    let serial = 0
    const collect = async (): Promise<void> => {
      const found = await collectArtifact(store, {
        path: join(base, 'run', path),
        roots: [join(base, 'run')],
        keyPrefix: `k/${(serial += 1)}`,
        maxBytes: 100_000,
      })
      if (found.kind === 'refused') throw new Error(found.reason)
      const kept = await store.get(found.storeKey)
      seen.add((await text(kept?.body ?? Readable.from([]))).includes(SECRET))
    }
    const options = { folder: join(base, 'run/d'), target: join(base, 'foreign'), tries: RACE_TRIES }
    await raceSwapper(options, collect)
    expect([...seen]).toEqual([false])
  },
  TEST_MS,
)
