import { Readable } from 'node:stream'
import { expect, test } from '@jest/globals'
import { entryKey, entryText, readEntries, type KeptLoop } from '../../src/resume/entries.ts'

const ATTEMPT = { runUuid: '7c9e6679-7425-40de-944b-e07fc1f90ae7', attempt: 1 }
const FOLDERS = { attempt: '/srv/attempt', workspace: '/srv/workspace' }
const COUNTS = { completed: 0, failed: 0, skipped: 0, refused: 0, firstError: '' }
const loopOf = (ended: [number, number][], outputs: [number, string][], begins = false): KeptLoop => ({
  items: { key: 'each', begins, ended, read: 9, hash: '', counts: COUNTS, outputs, worked: true, env: {} },
  rows: [],
  artifacts: [],
})

const read = async (loops: readonly KeptLoop[]) => {
  const texts = new Map(
    loops.map((loop, at) => {
      const entry = { inputs: '', values: {}, units: [], loops: [loop], files: {} }
      return [entryKey(ATTEMPT, at + 1), entryText([entry], FOLDERS)] as const
    }),
  )
  const get = async (key: string) => {
    const bytes = Buffer.from(texts.get(key) ?? '')
    return { body: Readable.from([bytes]), size: bytes.length }
  }
  const state = await readEntries({ get }, { ...ATTEMPT, entries: loops.length }, FOLDERS)
  return state.loops.get('each')?.items
}

test('items that ended in any order, in thousands of entries, become as few ranges as possible', async () => {
  const odd = Array.from({ length: 2_000 }, (_, at) => loopOf([[2 * at + 1, 2 * at + 1]], []))
  const even = Array.from({ length: 2_000 }, (_, at) => loopOf([[2 * at, 2 * at]], [[2 * at, `${at}`]]))
  const items = await read([...odd, ...even.toReversed(), loopOf([[5_000, 5_001]], [])])
  expect(items?.ended).toEqual([
    [0, 3_999],
    [5_000, 5_001],
  ])
  expect(items?.outputs).toHaveLength(2_000)
})

test('a loop that begins again forgets what an earlier one noted', async () => {
  const items = await read([
    loopOf([[0, 3]], [[0, 'a']]),
    loopOf([[1, 1]], [[1, 'b']], true),
    loopOf([[2, 2]], []),
  ])
  expect(items).toMatchObject({ ended: [[1, 2]], outputs: [[1, 'b']] })
})
