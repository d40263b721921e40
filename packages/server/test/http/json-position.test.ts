import { describe, expect, test } from '@jest/globals'
import { jsonPosition } from '../../src/http/body/json-position.ts'

describe('the position of the first JSON syntax error', () => {
  test.each([
    ['', 1, 1],
    ['abc', 1, 1],
    ['{"a":1,}', 1, 8],
    ['{"a" 1}', 1, 6],
    ['[1 2]', 1, 4],
    ['[1,]', 1, 4],
    ['{"a":\n  tru}', 2, 3],
    ['{"a":"\n"}', 1, 6],
    ['{"a":"\\x"}', 1, 6],
    ['{a:1}', 1, 2],
    ['{} {}', 1, 4],
    ['[[', 1, 3],
    ['{"a":', 1, 6],
    ['[01]', 1, 3],
    ["{'a':1}", 1, 2],
  ])('the syntax error in %j is at line %i, column %i', (source, line, column) => {
    expect(() => JSON.parse(source) as unknown).toThrow()
    expect(jsonPosition(source)).toMatchObject({ line, column })
  })

  test.each([
    ['letters', 'x'],
    ['escapes', '\\n'],
    ['pairs', '😀'],
    ['digits', ''],
  ])('the position is found after many megabytes of %s', (_, piece) => {
    const value = piece === '' ? '7'.repeat(15_000_000) : `"${piece.repeat(7_000_000)}"`
    expect(jsonPosition(`[${value} x]`).offset).toBe(value.length + 2)
  })

  test('the position is found in nested lists', () => {
    expect(jsonPosition('['.repeat(1_001)).offset).toBe(1_001)
  })
})
