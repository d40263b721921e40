import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from '@jest/globals'
import { pool } from '../../src/step/pool.ts'

const numbers = async function* (count: number, onEnd: () => void = () => {}): AsyncGenerator<number> {
  try {
    for (let number = 0; number < count; number += 1) yield number
  } finally {
    onEnd()
  }
}

const collect = (() => {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as () => void
})()

describe.each([
  ['a list', (count: number) => Array.from({ length: count }, (_, number) => number)],
  ['a stream', (count: number) => numbers(count)],
])('a pool over %s', (_, of) => {
  test('starts all items in order, no more than its width at a time', async () => {
    const started: [number, number][] = []
    let working = 0
    let most = 0
    await pool(of(50), 4, async (item, index) => {
      started.push([item, index])
      working += 1
      most = Math.max(most, working)
      await new Promise(setImmediate)
      working -= 1
    })
    expect(started).toEqual(Array.from({ length: 50 }, (_unused, number) => [number, number]))
    expect(most).toBe(4)
    expect(working).toBe(0)
  })

  test('starts no item after `go` is false, and waits for those that have started', async () => {
    let ended = 0
    await pool(
      of(50),
      4,
      async () => {
        await new Promise(setImmediate)
        ended += 1
      },
      () => ended === 0,
    )
    expect(ended).toBe(4)
  })

  test('rejects with the first error and starts no further item', async () => {
    let started = 0
    const work = async (item: number): Promise<void> => {
      started += 1
      await new Promise(setImmediate)
      if (item === 2) throw new Error('item 2 failed')
    }
    await expect(pool(of(50), 1, work)).rejects.toThrow('item 2 failed')
    expect(started).toBe(3)
  })
})

test('a pool closes a stream that it does not read to its end', async () => {
  let isClosed = false
  const stream = numbers(10, () => (isClosed = true))
  await pool(
    stream,
    2,
    async () => {},
    () => false,
  )
  expect(isClosed).toBe(true)
})

test('an item that takes long does not hold memory for each item that ends meanwhile', async () => {
  const held = Promise.withResolvers<void>()
  let before = 0
  let grown = 0
  await pool(numbers(300_000), 2, async (item) => {
    if (item === 0) return await held.promise
    if (item === 1_000) {
      collect()
      before = process.memoryUsage().heapUsed
    }
    if (item < 299_999) return
    collect()
    grown = process.memoryUsage().heapUsed - before
    held.resolve()
  })
  expect(grown / 2 ** 20).toBeLessThan(8)
})
