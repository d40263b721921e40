import { describe, expect, test } from '@jest/globals'
import { PARAM_LIMITS, paramsProblems } from '../src/index.ts'

const many = (count: number, value = 'x'): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`param_${n}`, value]))
const KIB = 1024

describe('params', () => {
  test.each([
    ['none', {}],
    ['as many as are allowed', many(PARAM_LIMITS.count)],
    ['names of all kinds of characters', { 'enable-X.y_2': '', [`n${'n'.repeat(127)}`]: 'v' }],
    ['a value as large as is allowed', { list: 'é'.repeat(32 * KIB) }],
    [
      'values that are together as large as is allowed',
      { ...many(3, 'x'.repeat(64 * KIB)), d: 'x'.repeat(60 * KIB) },
    ],
  ])('params are accepted: %s', (_title, params) => {
    expect(paramsProblems(params)).toEqual([])
  })

  test.each([
    ['one too many', many(201), '/params', /^at most 200 params are taken, these are 201$/],
    ['sixty thousand', many(60_000), '/params', /these are 60000$/],
    ['no name', { '': 'x' }, '/params', /is not ""$/],
    ['a name with a blank', { 'a b': 'x' }, '/params', /1 to 128 characters .* is not "a b"$/],
    ['a name with a line break', { 'a\n': 'x' }, '/params', /is not "a\\n"$/],
    ['a long name', { ['n'.repeat(129)]: 'x' }, '/params', /is not "n{40}…"$/],
    [
      'a large value',
      { list: 'é'.repeat(32 * KIB + 1) },
      '/params/list',
      /at most 65536 bytes, this one has 65538;/,
    ],
    [
      'values that are large together',
      many(5, 'x'.repeat(60 * KIB)),
      '/params',
      /at most 262144 bytes together/,
    ],
  ])('params are refused: %s', (_title, params, path, message) => {
    const problems = paramsProblems(params)
    expect(problems).toEqual([{ path, message: expect.stringMatching(message) }])
  })

  test('problems of params have the path of the field that contained them', () => {
    expect(paramsProblems({ big: 'x'.repeat(65 * KIB) }, '/input')).toMatchObject([{ path: '/input/big' }])
  })
})
