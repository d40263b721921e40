import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { Mask } from '../../src/secrets/mask.ts'
import { useRuns } from '../harness/runs.ts'

const SECRET = 'hunter2-secret'
const { run } = useRuns()

describe('a mask', () => {
  const chunked = (mask: Mask, text: string, size: number, keepLength = false): string => {
    const chunks = mask.chunks(keepLength)
    const out: Buffer[] = []
    for (let at = 0; at < text.length; at += size)
      out.push(chunks.push(Buffer.from(text.slice(at, at + size))))
    return Buffer.concat([...out, chunks.end()]).toString()
  }

  test.each([1, 2, 3, 5, 14, 100])('a mask finds a secret in chunks of %i characters', (size) => {
    const text = `a ${SECRET} hunter2 hunter2-${SECRET} hunter`
    expect(chunked(new Mask([SECRET]), text, size)).toBe('a *** hunter2 hunter2-*** hunter')
    expect(chunked(new Mask([SECRET]), text, size, true)).toHaveLength(text.length)
  })

  test('a mask finds a secret in JSON, URLs and Base64, and the lines of a multi-line secret', () => {
    const mask = new Mask(['a"b c&d', '-----BEGIN-----\nline-of-a-key\n'])
    for (const text of ['{"k":"a\\"b c&d"}', '?q=a%22b%20c%26d', 'Basic YSJiIGMmZA==', 'x line-of-a-key'])
      expect(mask.text(text)).toContain('***')
  })

  test.each(['hunter2\n', 'abc\nhunter2'])(
    'a mask finds the secret %j with short lines as a whole',
    (secret) => {
      expect(new Mask([secret]).text(`x ${secret.trim()} y`)).toBe('x *** y')
    },
  )

  test.each([1, 2, 3, 5, 100])(
    'a mask finds the longer of two secrets with a common prefix in chunks of %i characters',
    (size) => {
      const mask = new Mask(['token', 'token-longer', 'kento'])
      expect(chunked(mask, 'a token-longer b token- kentoken token-long', size)).toBe(
        'a *** b ***- ***ken ***-long',
      )
    },
  )

  test('a mask without secrets changes nothing', () => {
    expect(chunked(new Mask([]), 'a\n', 1)).toBe('a\n')
    expect(chunked(new Mask(['\n']), 'a\n', 1)).toBe('a\n')
  })

  test('a mask keeps bytes that are not text', () => {
    const bytes = Buffer.from([0, 255, 254, 128, 10, 195])
    const chunks = new Mask([SECRET]).chunks()
    expect(Buffer.concat([chunks.push(bytes), chunks.end()])).toEqual(bytes)
  })
})

test('a secret of the environment reaches commands, but nothing that is recorded or copied', async () => {
  const { status, recorder, output } = await run(
    `
kind: module
name: leak
steps:
  - name: print
    type: bash
    commands: ['printf %s "$MY_KEY"', 'printf %s "$MY_KEY" | cut -c1-7', 'printf hunter2; sleep 0.1; echo -secret']
    std_file: copy.txt
    exports: {key: "{{stdout}}"}
  - {name: use, type: bash, command: 'test {{key}} != "***" && echo {{key}} >&2'}
  - {name: ask, type: function, functions: ["os_getenv('MY_KEY')", "log_info('{{key}}')"]}
  - {name: fail, type: bash, command: 'exit 3', on_error: [{action: log, message: "{{key}}"}, {action: continue}]}
  - {name: end, type: bash, command: "test -z {{key}}"}
reports: [{name: copy, path: copy.txt, type: text}]
`,
    { env: { PATH: process.env['PATH'] ?? '', MY_KEY: SECRET }, secrets: [SECRET] },
  )
  expect(status).toBe('failed')
  expect(recorder.byName('print').output).toBe('***hunter2\n***\n')
  expect(recorder.byName('use').status).toBe('completed')
  expect(readFileSync(join(output, 'copy.txt'), 'utf8')).toBe('***hunter2\n***\n')
  expect(JSON.stringify(recorder)).not.toContain(SECRET)
})

test('the reason for which a run failed contains no secret', async () => {
  const { errorMessage } = await run(
    `
kind: module
name: fails
params: [{name: key, default: "{{own}}"}]
steps: [{name: a, type: function, function: "sed_regex_replace('{{own}}(', 'x', 'y', 'z')"}, {name: b, type: bash, command: "{{own}}/nope"}]
`,
    { variables: { own: SECRET }, secrets: [SECRET] },
  )
  expect(errorMessage).not.toBe('')
  expect(errorMessage).not.toContain(SECRET)
})

test('variables of the operator override those of the system, and callers and workflows override them', async () => {
  const { recorder } = await run(
    `
kind: module
name: layers
params: [{name: own, default: workflow}, {name: empty, default: ""}]
steps: [{name: a, type: bash, command: "echo {{threads}} {{given}} {{asked}} {{own}} {{empty}} {{flag}}"}]
`,
    {
      variables: {
        threads: 3,
        given: 'operator',
        asked: 'operator',
        own: 'operator',
        empty: 'operator',
        flag: true,
      },
      params: { asked: 'caller' },
    },
  )
  expect(recorder.byName('a').output).toBe('3 operator caller workflow operator true\n')
})
