import { expect, test } from '@jest/globals'
import { OutputTail } from '../../src/record/logs.ts'

const LIMIT = 16

const tailOf = (...chunks: (string | Buffer)[]) => {
  const tail = new OutputTail(LIMIT)
  for (const chunk of chunks) tail.push(Buffer.from(chunk))
  return tail
}

test('Short output is kept unchanged', () => {
  const tail = tailOf('hello ', 'wörld')
  expect(tail.text()).toBe('hello wörld')
  expect(tail.whole).toBe(true)
  expect(tail.total).toBe(12)
})

test('Long output keeps its last bytes', () => {
  const tail = tailOf(...Array.from({ length: 1000 }, (_, n) => `${n},`))
  expect(tail.text()).toBe('996,997,998,999,')
  expect(tail.whole).toBe(false)
  expect(tail.total).toBe(3890)
})

test('A cut never leaves half a character', () => {
  expect(tailOf('ä'.repeat(20), 'x').text()).toBe('ä'.repeat(7) + 'x')
  expect(tailOf('😀'.repeat(20), 'xy').text()).toBe('😀'.repeat(3) + 'xy')
})

test('A character that is split between two chunks stays one character', () => {
  const bytes = Buffer.from('äöü')
  expect(tailOf(bytes.subarray(0, 3), bytes.subarray(3)).text()).toBe('äöü')
})

test('Invalid UTF-8 and NUL are replaced without exceeding the limit', () => {
  const text = tailOf(Buffer.alloc(100, 0xff)).text()
  expect(text).toBe('\uFFFD'.repeat(5))
  expect(Buffer.byteLength(text)).toBeLessThanOrEqual(LIMIT)
  expect(tailOf('a\0b').text()).toBe('a\uFFFDb')
  expect(Buffer.byteLength(tailOf('\0'.repeat(100)).text())).toBeLessThanOrEqual(LIMIT)
})

test('Gigabytes in small chunks do not use more memory than the limit', () => {
  const tail = new OutputTail(LIMIT)
  const chunk = Buffer.alloc(64 * 1024, 'z')
  const before = process.memoryUsage().arrayBuffers
  for (let i = 0; i < 4096; i += 1) tail.push(chunk)
  expect(tail.bytes().length).toBe(LIMIT)
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(128 * 1024 * 1024)
})
