import { expect, test } from '@jest/globals'
import { topicMatcher } from '../../src/loops/event-receiver/topics.ts'

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
])('the glob %j and the topic %j: %j', (glob, topic, fits) => {
  expect(topicMatcher(glob)(topic)).toBe(fits)
})

test('a range that goes backwards is no glob', () => {
  expect(() => topicMatcher('custom.[z-a]')).toThrow(SyntaxError)
})

test('a glob of very many stars is answered', () => {
  expect(topicMatcher(`${'*a'.repeat(100)}*b`)('a'.repeat(256))).toBe(false)
})
