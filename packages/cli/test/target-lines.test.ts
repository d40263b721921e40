import { expect, test } from '@jest/globals'
import { duration } from '../src/options.ts'
import { readTargetLines } from '../src/scan/target-lines.ts'
import { captureTerminal } from './captured-terminal.ts'

const LIST = 'a.test\n# note\n300.1.1.1\n\nb.test\nb.test:70000\n'

test('A bad line of a list of targets is refused with its number', async () => {
  await expect(readTargetLines(captureTerminal({}, LIST), '-', {})).rejects.toThrow(
    /standard input, line 3: 300\.1\.1\.1 is not an IPv4 address.*--skip-bad/,
  )
})

test('With --skip-bad the bad lines of a list are reported and left out', async () => {
  const terminal = captureTerminal({}, LIST)
  expect(await readTargetLines(terminal, '-', { skipBad: true })).toEqual(['a.test', 'b.test'])
  expect(terminal.stderr()).toMatch(/line 3: .*; left out\n.*line 6: .*; left out\n$/)
})

test('A number alone is seconds, as in workflows', () => {
  expect([duration('30'), duration('30s'), duration('30m')]).toEqual([30_000, 30_000, 1_800_000])
})
