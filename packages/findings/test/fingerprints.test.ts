import { expect, test } from '@jest/globals'
import { Fingerprints } from '../src/import/fingerprints.ts'

const result = (n: number) => ({
  check: 'c',
  file: `f${n % 1_000}`,
  lasting: ['x'],
  line: String(n),
  column: '',
  rest: '',
})

test('Many results of a kind are numbered in their order, and equal ones have the same number', () => {
  const fingerprints = new Fingerprints()
  const of = () => Array.from({ length: 20_000 }, (_, n) => fingerprints.of(result(n)))
  const first = of()
  expect(first.every((one, n) => one === (n < 1_000 ? 'x' : `x #${1 + Math.floor(n / 1_000)}`))).toBe(true)
  expect(of()).toEqual(first)
})
