import { describe, expect, test } from '@jest/globals'
import { namesTag, rangeOf } from '../../src/routes/artifacts/send-artifact.ts'

describe('a Range header', () => {
  test.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=2-5', { start: 2, end: 5 }],
    ['bytes=5-', { start: 5, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-100', { start: 0, end: 9 }],
    ['bytes=8-100', { start: 8, end: 9 }],
  ])('%s of 10 bytes selects one range', (header, range) => {
    expect(rangeOf(header, 10)).toEqual(range)
  })

  test.each([undefined, 'bytes=0-1,3-4', 'lines=1-2', 'bytes=-', 'bytes=5-2', 'bytes=a-b'])(
    '%s selects the whole content',
    (header) => {
      expect(rangeOf(header, 10)).toBeUndefined()
    },
  )

  test.each(['bytes=10-', 'bytes=99-100', 'bytes=-0'])('%s of 10 bytes is refused', (header) => {
    expect(() => rangeOf(header, 10)).toThrow('the file has 10 bytes')
  })
})

describe('an entity tag', () => {
  test('the tag is found in a list, as a weak tag and as *', () => {
    expect(namesTag('"a", W/"b"', '"b"')).toBe(true)
    expect(namesTag('*', '"b"')).toBe(true)
    expect(namesTag('"a"', '"b"')).toBe(false)
    expect(namesTag(undefined, '"b"')).toBe(false)
  })
})
