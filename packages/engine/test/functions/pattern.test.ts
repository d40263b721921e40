// exclusive: machine
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { longestDelay } from '../harness/event-loop.ts'
import { useRuns } from '../harness/runs.ts'

const { run, folder } = useRuns()

/** Forms that only RE2 has, and V8 refuses: RE2 matches in linear time. */
const ONLY_RE2 = ['(?P<one>xb)', '(?i)XA$', '\\A[[:digit:]]']
const TEXT = `${'a'.repeat(5000)}${'x'.repeat(5000)}!`
const MAX_DELAY_MS = 1000

/** Each call as a step; its answer or its error. */
const answers = async (calls: readonly string[], files: Record<string, string> = {}): Promise<string[]> => {
  const output = mkdtempSync(join(folder(), 'pattern-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(output, name), text)
  const steps = calls.map((call, index) => ({
    name: `s${index}`,
    type: 'function',
    function: call,
    on_error: [{ action: 'continue' }],
  }))
  const { recorder } = await run(`kind: module\nname: main\nsteps: ${JSON.stringify(steps)}\n`, {
    folders: { output, temp: join(output, 'tmp') },
  })
  return recorder.steps.map(({ errorMessage, output: text }) => errorMessage || text.trim())
}

const quoted = (text: string): string => JSON.stringify(text)

describe('a regular expression', () => {
  test('every function matches with RE2, which takes linear time, and does not block the event loop', async () => {
    const calls = ONLY_RE2.flatMap((pattern) => [
      `match(read_file("long"), ${quoted(pattern)})`,
      `regex_match(${quoted(pattern)}, read_file("long"))`,
      `file_contains("long", ${quoted(pattern)})`,
      `grep_regex("long", ${quoted(pattern)})`,
      `regex_extract("long", ${quoted(pattern)})`,
      `grep_regex_to_file("found", "long", ${quoted(pattern)}) && file_length("found")`,
    ])
    let got: string[] = []
    const delay = await longestDelay(async () => (got = await answers(calls, { long: `${TEXT}\n` })))
    expect(got).toEqual(ONLY_RE2.flatMap(() => ['false', 'false', 'false', '', '[]', '0']))
    expect(delay).toBeLessThan(MAX_DELAY_MS)
  })

  test('regular expressions have RE2 syntax', async () => {
    expect(
      await answers([
        `match("ADMIN", "(?i)^admin$")`,
        `match("a\\nb", "(?s)a.b") && !match("a\\nb", "a.b")`,
        `match("a\\nb", "(?m)^b$") && !match("a\\nb", "^b$")`,
        `match("id=12", "^(?P<key>\\\\w+)=(?:\\\\d{1,3})$")`,
        `match("é", "^\\\\pL$") && match("a/b", "a\\\\/b")`,
      ]),
    ).toEqual(['true', 'true', 'true', 'true', 'true'])
  })

  test.each(['(?=a)b', '(?!a)b', '(?<=a)b', '(?<!a)b', String.raw`(a)\1`, 'a(', '['])(
    'a regular expression that RE2 refuses matches nothing, and the reason is logged: %s',
    async (pattern) => {
      const step = { name: 's', type: 'function', function: `match("ab", ${quoted(pattern)})` }
      const { recorder } = await run(`kind: module\nname: main\nsteps: ${JSON.stringify([step])}\n`)
      expect(recorder.steps.map(({ output }) => output.trim())).toEqual(['false'])
      const error = recorder.lines.join('\n')
      expect(error).toContain(`"${pattern}" is not a regular expression in RE2 syntax: `)
      expect(error).toContain('look-ahead, look-behind and back references are not available')
    },
  )

  test('a regular expression is limited in length, size and work', async () => {
    let got: string[] = []
    const delay = await longestDelay(
      async () =>
        (got = await answers(
          [
            `match("a", ${quoted('a'.repeat(4097))})`,
            `match("a", "${'x{1000}'.repeat(11)}")`,
            `match(read_file("big"), "a[ab]{900}c")`,
            `grep_regex("big", "a[ab]{900}c")`,
            `match(read_file("big"), "needle")`,
          ],
          { big: `${'ab'.repeat(500_000)} needle\n` },
        )),
    )
    expect(got).toEqual([
      'a regular expression may have at most 4096 characters; this one has 4097',
      expect.stringMatching(/needs \d+ instructions, more than the 10000 allowed/),
      expect.stringMatching(/takes at most \d+ characters at a time, and this text has 1000008/),
      expect.stringMatching(/takes at most \d+ characters at a time, and this text has 1000007/),
      'true',
    ])
    expect(delay).toBeLessThan(MAX_DELAY_MS)
  })

  test('a search through a large file does not block the event loop', async () => {
    const line = 'abaabbabaabbbabababaabba'
    const large = Array.from({ length: 100_000 }, (_, at) => `${line.slice(at % 20)}${line}${at}`).join('\n')
    const delay = await longestDelay(
      async () => await answers(['grep_regex("large", "abb[ab]*c")'], { large }),
    )
    expect(delay).toBeLessThan(MAX_DELAY_MS)
  })
})

describe('a file', () => {
  test('lines of a file may end as on any system', async () => {
    const files = { mixed: 'a\nb\r\nc\rd\n\ne', empty: '', one: 'é' }
    expect(await answers(['read_lines("mixed")', 'read_lines("empty")', 'read_lines("one")'], files)).toEqual(
      ['["a","b","c","d","","e"]', '[]', '["é"]'],
    )
  })

  test('a file with an endless line is refused', async () => {
    const [error] = await answers(['read_lines("endless")'], { endless: 'x'.repeat((16 << 20) + 100_000) })
    expect(error).toMatch(/endless has a line of more than 16777216 characters; work on it with a command$/)
  })
})
