import { Readable } from 'node:stream'
import { describe, expect, test } from '@jest/globals'
import type { TargetDraft } from '@scanfarm/store'
import { collectTargets } from '../../src/submission/collect-targets.ts'

const PATH = 'uploads/0123456789abcdef-list.txt'
const LIMITS = { folders: [], maxTargets: 1_000_000, refusal: undefined }

/** A store whose upload can change between reads. */
const storeOf = (...contents: readonly (() => Iterable<string>)[]) => {
  let reads = 0
  return {
    get: async () => {
      const content = contents[Math.min(reads, contents.length - 1)] ?? (() => [])
      reads += 1
      const chunks = (function* () {
        for (const text of content()) yield Buffer.from(text)
      })()
      return { size: 0, body: Readable.from(chunks) }
    },
    size: async () => undefined,
  }
}

/** In pieces of 1,000 lines. */
const hosts = (count: number) =>
  function* (): Generator<string> {
    for (let from = 0; from < count; from += 1_000) {
      const length = Math.min(1_000, count - from)
      yield Array.from({ length }, (_, index) => `host-${from + index}.example\n`).join('')
    }
  }

const collect = async (chunks: AsyncIterable<readonly TargetDraft[]>): Promise<number[]> => {
  const sizes: number[] = []
  for await (const chunk of chunks) sizes.push(chunk.length)
  return sizes
}

describe('uploads as targets', () => {
  test('each upload is looked up once, however often it is named', async () => {
    const asked: string[] = []
    const store = {
      ...storeOf(),
      size: async (key: string) => {
        asked.push(key)
        return key === PATH ? 1 : undefined
      },
    }
    const gone = 'uploads/0123456789abcdef-gone.txt'
    const targets = Array<string>(1_000).fill(PATH)
    expect(await collectTargets({ module: 'x', targets }, store, LIMITS)).toMatchObject({ count: 1 })
    expect(asked).toEqual([PATH])
    await expect(
      collectTargets({ module: 'x', targets: [PATH, gone, gone] }, store, LIMITS),
    ).rejects.toMatchObject({
      code: 'invalid_input',
      details: [{ path: '/targets/1' }, { path: '/targets/2' }],
    })
    expect(asked).toEqual([PATH, PATH, gone])
  })
})

describe('targets of a long file', () => {
  test('targets are counted first and then read again in chunks without duplicates', async () => {
    const content = function* (): Generator<string> {
      yield* hosts(100_005)()
      yield 'host-7.example\n# note\n\nlast.example'
    }
    const collected = await collectTargets({ module: 'x', target_file: PATH }, storeOf(content), LIMITS)
    expect(collected).toMatchObject({ count: 100_006, dropped: 1, targets: undefined })
    if (!('chunks' in collected.drafts)) throw new Error('a long list is to be a stream')
    for (const _ of [1, 2])
      expect(await collect(collected.drafts.chunks())).toEqual([...Array<number>(10).fill(10_000), 6])
  })

  test('a file may have a million targets', async () => {
    const store = storeOf(hosts(1_000_000))
    const { count, drafts } = await collectTargets({ module: 'x', target_file: PATH }, store, LIMITS)
    expect(count).toBe(1_000_000)
    if (!('chunks' in drafts)) throw new Error('a long list is to be a stream')
    expect(await collect(drafts.chunks())).toEqual(Array<number>(100).fill(10_000))
  })

  test('a file that changes between the two readings is refused', async () => {
    const store = storeOf(hosts(100_001), hosts(100_000))
    const { drafts } = await collectTargets({ module: 'x', target_file: PATH }, store, LIMITS)
    if (!('chunks' in drafts)) throw new Error('a long list is to be a stream')
    await expect(collect(drafts.chunks())).rejects.toMatchObject({ code: 'conflict' })
  })

  test('one invalid line at the end refuses the whole file', async () => {
    const content = function* (): Generator<string> {
      yield* hosts(150_000)()
      yield 'a;b\n'
    }
    await expect(
      collectTargets({ module: 'x', target_file: PATH }, storeOf(content), LIMITS),
    ).rejects.toMatchObject({
      code: 'invalid_target',
      details: [
        {
          path: '/target_file',
          message: 'line 150001: a target may contain ; only in the path, query or fragment of a URL',
        },
      ],
    })
  })

  test('skip_bad leaves invalid lines out and names the first of them', async () => {
    const content = function* (): Generator<string> {
      yield* hosts(100_001)()
      yield 'a;b\nlast.example\n'
      yield 'c|d\n'.repeat(100)
    }
    const body = { module: 'x', target_file: PATH, skip_bad: true }
    const { drafts, skipped, ...collected } = await collectTargets(body, storeOf(content), LIMITS)
    expect(collected).toMatchObject({ count: 100_002, dropped: 0 })
    expect(skipped?.count).toBe(101)
    expect(skipped?.problems).toHaveLength(50)
    expect(skipped?.problems[0]).toMatchObject({
      path: '/target_file',
      message: expect.stringMatching(/^line 100002: /),
    })
    if (!('chunks' in drafts)) throw new Error('a long list is to be a stream')
    expect(await collect(drafts.chunks())).toEqual([...Array<number>(10).fill(10_000), 2])
  })

  test('a file with only invalid lines is not read to the end', async () => {
    let read = 0
    const content = function* (): Generator<string> {
      for (; read < 1_000_000; read += 1) yield 'a;b\n'
    }
    await expect(
      collectTargets({ module: 'x', target_file: PATH }, storeOf(content), LIMITS),
    ).rejects.toMatchObject({ code: 'invalid_target' })
    expect(read).toBeLessThan(2_000)
  })
})

test('All refused targets are counted, and 10,000 of them are listed', async () => {
  const limits = { ...LIMITS, refusal: (target: string) => (target === 'host-0.example' ? undefined : 'no') }
  const upload = storeOf(hosts(12_000))
  const { count, refused } = await collectTargets({ module: 'probe', target_file: PATH }, upload, limits)
  expect([count, refused?.count, refused?.listed.length]).toEqual([1, 11_999, 10_000])
  expect(refused?.listed[0]).toEqual({ target: 'host-1.example', reason: 'no' })
})
