import { expect, test } from '@jest/globals'
import { topicMatcher } from '../../src/triggers/topics.ts'

test.each([
  ['', 'custom.build', true],
  ['custom.build', 'custom.build', true],
  ['custom.build', 'custom.builds', false],
  ['custom.*', 'custom.', true],
  ['custom.*', 'custom.a/b:c', true],
  ['custom.*', 'xcustom.a', false],
  ['*.build', 'custom.build', true],
  ['*.build', 'custom.build.x', false],
  ['*a*b*', 'xxaxxbxx', true],
  ['*a*b', 'abab', true],
  ['*a*b', 'aba', false],
  ['c?stom.x', 'custom.x', true],
  ['c?stom.x', 'cstom.x', false],
  ['custom.[a-c]', 'custom.b', true],
  ['custom.[!a-c]', 'custom.b', false],
  ['custom.[!a-c]*', 'custom.xyz', true],
  ['custom.[', 'custom.[', true],
  ['custom.?', 'customx?', false],
  ['assets.*', 'asset.discovered', true],
])('the glob %j matches the topic %j: %j', (glob, topic, fits) => {
  expect(topicMatcher(glob)(topic)).toBe(fits)
})

test('an inverted range is not a valid glob', () => {
  expect(() => topicMatcher('custom.[z-a]')).toThrow(SyntaxError)
})

test('a glob with several stars finds the first place for each of them', () => {
  expect(topicMatcher('*a*a*b')('aabab')).toBe(true)
  expect(topicMatcher('*a*a*b')('aaa')).toBe(false)
  expect(topicMatcher('*a*a*b')('ab')).toBe(false)
})

test('a long topic is matched in linear time', () => {
  const began = performance.now()
  expect(topicMatcher('*a*b')('a'.repeat(300_000))).toBe(false)
  expect(performance.now() - began).toBeLessThan(10_000)
})
