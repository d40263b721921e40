import { describe, expect, test } from '@jest/globals'
import { SeenHashes } from '../../src/submission/seen-hashes.ts'

describe('a set of hashes', () => {
  test('the set recognises every string, also after it has grown', () => {
    const seen = new SeenHashes()
    const texts = Array.from({ length: 400_000 }, (_, index) => `host-${index}.example`)
    expect(texts.every((text) => seen.add(text))).toBe(true)
    expect(texts.some((text) => seen.add(text))).toBe(false)
    expect(seen.add('host-400000.example')).toBe(true)
  })
})
