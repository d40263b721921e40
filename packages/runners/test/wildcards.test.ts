import { expect, test } from '@jest/globals'
import { matchesAny } from '../src/wildcards.ts'

test.each([
  ['own:1', 'own:1', true],
  ['own:1', 'own:12', false],
  ['', '', true],
  ['*', '', true],
  ['*', 'a/b\nc', true],
  ['own/*', 'own/', true],
  ['own/*', 'own', false],
  ['own/*', 'not-own/a', false],
  ['*:1', 'own/a:1', true],
  ['*:1', 'own/a:12', false],
  ['a*a', 'a', false],
  ['a*a', 'aa', true],
  ['a*b*c', 'aXbXbXc', true],
  ['a*b*c', 'aXcXb', false],
  ['*b*b', 'ab', false],
  ['*b*b', 'abb', true],
  ['**', 'a', true],
  ['a.c', 'abc', false],
  ['[a]?', '[a]?', true],
])('the pattern %j matches the name %j: %j', (pattern, name, fits) => {
  expect(matchesAny([pattern], [name])).toBe(fits)
})

test('one of the patterns and one of the names are enough', () => {
  expect(matchesAny(['x', 'b*'], ['a', 'bc'])).toBe(true)
  expect(matchesAny([], ['a'])).toBe(false)
  expect(matchesAny(['*'], [])).toBe(false)
})

test('a long name is matched in linear time', () => {
  const began = performance.now()
  expect(matchesAny(['*a*b'], ['a'.repeat(300_000)])).toBe(false)
  expect(performance.now() - began).toBeLessThan(10_000)
})
