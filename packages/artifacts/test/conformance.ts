import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { ArtifactStore } from '@scanfarm/contracts'

/** The memory is sampled after every so many megabytes. */
const SAMPLE_EVERY = 32
/** The S3 server of the tests needs some seconds for a hundred megabytes. */
const LARGE_MS = 180_000
const MIB = 1024 * 1024

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

/** Bytes in buffers, without garbage. */
const keptBytes = (): number => {
  collect()
  // A collection frees buffers in the background; the next one waits for that.
  collect()
  return process.memoryUsage().arrayBuffers
}

/** The contract of `ArtifactStore`, for any driver. */
export function artifactStoreConformance(open: () => Promise<ArtifactStore>): void {
  describe('artifact store', () => {
    let store: ArtifactStore
    beforeAll(async () => {
      store = await open()
    })
    afterAll(async () => {
      await store[Symbol.asyncDispose]()
    })

    const put = (key: string, text: string) => store.put(key, Readable.from([Buffer.from(text)]))
    const get = async (key: string, range?: { start: number; end: number }) => {
      const found = await store.get(key, range)
      return found && { size: found.size, text: (await buffer(found.body)).toString() }
    }

    test('A stored object is returned with its size and SHA-256', async () => {
      const stored = await put('runs/a/1/x.txt', 'hello')
      expect(stored).toEqual({ size: 5, sha256: createHash('sha256').update('hello').digest('hex') })
      expect(await get('runs/a/1/x.txt')).toEqual({ size: 5, text: 'hello' })
      expect(await store.size('runs/a/1/x.txt')).toBe(5)
    })

    test('A missing key returns undefined, even if it is a prefix of another key', async () => {
      await put('prefix/of/another', 'x')
      for (const key of ['none', 'prefix/of', 'prefix/of/another/below']) {
        expect(await store.get(key)).toBeUndefined()
        expect(await store.size(key)).toBeUndefined()
      }
    })

    test('An empty object can be stored', async () => {
      expect((await store.put('empty', Readable.from([]))).size).toBe(0)
      expect(await get('empty')).toEqual({ size: 0, text: '' })
    })

    test('A range is returned with the size of the whole object', async () => {
      await put('range', '0123456789')
      expect(await get('range', { start: 2, end: 4 })).toEqual({ size: 10, text: '234' })
      expect(await get('range', { start: 9, end: 9 })).toEqual({ size: 10, text: '9' })
      expect(await get('range', { start: 7, end: 1000 })).toEqual({ size: 10, text: '789' })
    })

    test('A range beyond the end has no bytes', async () => {
      await put('short', 'abc')
      expect(await get('short', { start: 3, end: 9 })).toEqual({ size: 3, text: '' })
      expect(await store.get('none', { start: 0, end: 9 })).toBeUndefined()
    })

    test('A put replaces the whole object', async () => {
      await put('again', 'a longer first version')
      await put('again', 'second')
      expect(await get('again')).toEqual({ size: 6, text: 'second' })
    })

    test('A stream that fails leaves the previous object unchanged', async () => {
      await put('broken', 'whole')
      const failing = async function* () {
        yield randomBytes(9 * MIB)
        throw new Error('the source broke')
      }
      await expect(store.put('broken', Readable.from(failing()))).rejects.toThrow('the source broke')
      expect(await get('broken')).toEqual({ size: 5, text: 'whole' })
      await expect(store.put('never', Readable.from(failing()))).rejects.toThrow('the source broke')
      expect(await store.size('never')).toBeUndefined()
    })

    test(
      'An object of unknown length is streamed with constant memory',
      async () => {
        const total = 128
        const chunk = randomBytes(MIB)
        const hash = createHash('sha256')
        for (let i = 0; i < total; i += 1) hash.update(chunk)
        const expected = hash.digest('hex')
        const before = keptBytes()
        let highest = before
        const source = async function* () {
          for (let i = 0; i < total; i += 1) {
            if (i % SAMPLE_EVERY === 0) highest = Math.max(highest, keptBytes())
            yield chunk
          }
        }
        const stored = await store.put('large', Readable.from(source(), { objectMode: false }))
        expect(stored).toEqual({ size: total * MIB, sha256: expected })
        expect((highest - before) / MIB).toBeLessThan(total / 2)
        const found = await store.get('large')
        const read = createHash('sha256')
        for await (const piece of found?.body ?? []) read.update(piece)
        expect(read.digest('hex')).toBe(expected)
      },
      LARGE_MS,
    )

    test('Any number of readers may stop early', async () => {
      await put('early', 'x'.repeat(MIB))
      for (let i = 0; i < 60; i += 1) {
        const found = await store.get('early')
        if (found === undefined) throw new Error('it was put')
        await once(found.body, 'readable')
        found.body.destroy()
      }
      expect(await store.size('early')).toBe(MIB)
    })

    test('Removing an object succeeds, also if it is missing', async () => {
      await put('gone/soon', 'x')
      await store.remove('gone/soon')
      await store.remove('gone/soon')
      expect(await store.size('gone/soon')).toBeUndefined()
    })

    test('A list by time has the keys of a folder that were put before it, up to the limit', async () => {
      for (const name of ['one', 'two', 'three']) await put(`aged/${name}`, 'x')
      await put('aged/deep/er', 'x')
      const [past, future] = [new Date(Date.now() - 60_000), new Date(Date.now() + 60_000)]
      expect(await store.oldKeys('aged', past, 10)).toEqual([])
      expect((await store.oldKeys('aged', future, 10)).sort()).toEqual(['aged/one', 'aged/three', 'aged/two'])
      expect(await store.oldKeys('aged', future, 2)).toHaveLength(2)
      expect(await store.oldKeys('never', future, 2)).toEqual([])
    })

    test('A list has all objects below a folder with the times at which they were put', async () => {
      const keys = ['tree/a', 'tree/b/c', 'tree/b/d/e', 'treetop/f']
      for (const key of keys) await put(key, 'x')
      const found = await Array.fromAsync(store.list('tree'))
      expect(found.map(({ key }) => key).sort()).toEqual(keys.slice(0, 3))
      for (const { modified } of found) expect(Math.abs(Date.now() - modified.getTime())).toBeLessThan(60_000)
      expect(await Array.fromAsync(store.list('tree/b/d'))).toMatchObject([{ key: 'tree/b/d/e' }])
      expect(await Array.fromAsync(store.list('never'))).toEqual([])
    })

    test('Many objects can be put at once', async () => {
      const keys = Array.from({ length: 40 }, (_, i) => `many/${i % 7}/${i}`)
      await Promise.all(keys.map((key) => put(key, key)))
      const texts = await Promise.all(keys.map(async (key) => (await get(key))?.text))
      expect(texts).toEqual(keys)
    })

    test.each([
      '',
      '/etc/passwd',
      '../x',
      'a/../b',
      'a//b',
      'a/.',
      'a b',
      'a/',
      'ä',
      'a\\b',
      'a\0b',
      '~incoming/x',
    ])('refuses %j as a key', async (key) => {
      await expect(put(key, 'x')).rejects.toThrow('not an artifact key')
      await expect(store.get(key)).rejects.toThrow('not an artifact key')
      await expect(store.size(key)).rejects.toThrow('not an artifact key')
      await expect(store.remove(key)).rejects.toThrow('not an artifact key')
    })

    test('The check resolves when the store can be written', async () => {
      await expect(store.check()).resolves.toBeUndefined()
    })
  })
}
