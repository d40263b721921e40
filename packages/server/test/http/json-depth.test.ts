import { expect, test } from '@jest/globals'
import { MAX_JSON_DEPTH, refuseDeepJson } from '../../src/http/body/json-depth.ts'

const nested = (depth: number, within = ''): string => '['.repeat(depth) + within + ']'.repeat(depth)

test.each([
  ['as deep as is allowed', nested(MAX_JSON_DEPTH)],
  ['many beside each other', `[${'[],{},'.repeat(MAX_JSON_DEPTH)}0]`],
  ['brackets in a string', JSON.stringify([nested(MAX_JSON_DEPTH * 2, '"\\')])],
  ['a string of many megabytes', JSON.stringify('x"'.repeat(4_000_000))],
  ['a string that does not end', `"${'['.repeat(MAX_JSON_DEPTH * 2)}`],
  ['an escaped backslash at the end of a string', String.raw`["a\\","b\\\"["]`],
])('JSON with %s is accepted', (_, text) => {
  expect(() => refuseDeepJson(text)).not.toThrow()
})

test.each([
  ['deeper lists', nested(MAX_JSON_DEPTH + 1)],
  ['deeper objects', '{"a":'.repeat(MAX_JSON_DEPTH + 1)],
  ['deeper lists behind a string', `["\\\\",${nested(MAX_JSON_DEPTH)}]`],
])('JSON with %s is refused', (_, text) => {
  expect(() => refuseDeepJson(text)).toThrow(`the body nests more than ${MAX_JSON_DEPTH} arrays or objects`)
})
