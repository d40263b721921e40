import { describe, expect, test } from '@jest/globals'
import { lint, resolveWorkflow } from '@scanfarm/language'
import { FUNCTIONS } from '@scanfarm/functions'
import { openLibrary } from '../../src/library/open-library.ts'
import { useRuns } from '../harness/runs.ts'

const runs = useRuns()

const problems = (text: string): string[] =>
  lint(text, 'm.yaml', FUNCTIONS).map(({ line, message }) => `${line} ${message}`)

const output = async (text: string, params: Record<string, string> = {}): Promise<string[]> => {
  const { recorder, errorMessage } = await runs.run(text, { params })
  expect(errorMessage).toBe('')
  return recorder.steps.map((step) => step.output)
}

describe('merge keys', () => {
  test('A merge key adds the fields of the named map, in flow style and in block style', async () => {
    const text = `name: anchors
kind: module
x-common: &c {type: bash, timeout: 20}
steps:
  - {<<: *c, name: one, command: 'echo one'}
  - <<: *c
    name: two
    command: 'echo two'
`
    expect(problems(text)).toEqual([])
    expect(await output(text)).toEqual(['one\n', 'two\n'])
  })

  test('Own fields take precedence, then the first map of a list; merged maps may merge others', async () => {
    const text = `kind: module
name: m
x-a: &a {type: bash, command: echo a, log: a}
x-b: &b {<<: *a, command: echo b}
x-c: &c {command: echo c, std_file: '{{Output}}/c'}
steps:
  - {name: own, <<: *b, command: echo own}
  - {name: first, <<: [*c, *b]}
  - {name: nested, <<: *b}
  - {name: inline, <<: {type: bash, command: echo inline}}
`
    expect(problems(text)).toEqual([])
    expect(await output(text)).toEqual(['own\n', 'c\n', 'b\n', 'inline\n'])
  })

  test('Maps of values and values of any form can be merged too', async () => {
    const text = `kind: module
name: m
x-out: &out {a: 'first', b: 'second'}
x-ask: &ask {name: word, default: yes please}
params:
  - <<: *ask
steps:
  - {name: set, type: bash, command: 'true', exports: {<<: *out, b: own}}
  - {name: show, type: bash, command: 'echo {{a}} {{b}} "{{word}}"'}
`
    expect(problems(text)).toEqual([])
    expect(await output(text)).toEqual(['', 'first own yes please\n'])
  })

  test('A quoted key is no merge key, and a merge key needs a map', () => {
    const head = 'kind: module\nname: m\nx-a: &a [1]\nsteps:\n'
    expect(problems(`${head}  - {name: s, type: bash, command: 'true', '<<': {log: x}}\n`)).toEqual([
      '5 "step" has no key "<<"; it is ignored.',
    ])
    expect(problems(`${head}  - {name: s, type: bash, command: 'true', <<: 3}\n`)).toEqual([
      '5 steps[0].<< must be a map, or a list of maps.',
    ])
  })
})

describe('files that are not one workflow', () => {
  test.each([
    [
      'two documents',
      'kind: module\nname: a\nsteps:\n  - {name: a, type: bash, command: "true"}\n---\nkind: module\nname: b\n',
      '5 YAML parse error: The file has several documents; put each workflow into its own file',
    ],
    [
      'tabs as indentation',
      'kind: module\nname: a\nsteps:\n\t- {name: a, type: bash, command: "true"}\n',
      '4 YAML parse error: Tabs are not allowed as indentation',
    ],
    [
      'a key that occurs twice',
      'kind: module\nname: a\nsteps:\n  - {name: a, type: bash, command: "echo 1", command: "echo 2"}\n',
      '4 YAML parse error: Map keys must be unique',
    ],
    [
      'a merge key that occurs twice',
      'kind: module\nname: a\nx-a: &a {}\nsteps:\n  - {<<: *a, <<: *a, name: a, type: bash, command: "true"}\n',
      '5 YAML parse error: Map keys must be unique',
    ],
  ])('A file with %s is refused with the line', (_what, text, expected) => {
    expect(problems(text)).toEqual([expected])
  })

  test('A file with a byte order mark and lines that end with CR LF is read', async () => {
    const text =
      '\uFEFFname: m\r\nkind: module\r\nsteps:\r\n  - name: a\r\n    type: bash\r\n    command: |\r\n      echo one\r\n      echo two\r\n'
    expect(problems(text)).toEqual([])
    expect(await output(text)).toEqual(['one\ntwo\n'])
  })
})

describe('numbers', () => {
  const WRITTEN = [
    '12345678901234567890',
    '0123',
    '1e3',
    '1.10',
    '0x1F',
    '10',
    '-0',
    '1_000',
    '.5',
    '5.',
    '+7',
  ]

  test.each(WRITTEN)('The default %s of a param is the text of the file', async (written) => {
    const text = (params: string) =>
      `kind: module\nname: m\nparams: [${params}]\nsteps: [{name: s, type: bash, command: 'echo {{n}}'}]\n`
    expect(await output(text(`{name: n, default: ${written}}`))).toEqual([`${written}\n`])
    expect(await output(text(`{name: n, value: ${written}}`))).toEqual([`${written}\n`])
    expect(await output(text('{name: n}'), { n: written })).toEqual([`${written}\n`])
  })

  test('Changed defaults and inputs of triggers are the text of the file too', async () => {
    const library = await openLibrary([])
    await library.put(
      'parent.yaml',
      'kind: module\nname: parent\nparams: [{name: n}]\nsteps: [{name: s, type: bash, command: echo}]\n',
    )
    await library.put(
      'child.yaml',
      'kind: module\nname: child\nextends: parent\noverride:\n  params: {n: 1.10, m: {default: 0123}}\n  triggers: [{name: t, on: event, event: {topic: x}, input: {n: 1e3}}]\n',
    )
    const { root } = resolveWorkflow(library, { name: 'child' })
    expect(root.params).toEqual([
      { name: 'n', default: '1.10' },
      { name: 'm', default: '0123' },
    ])
    expect(root.triggers?.[0]?.input).toEqual({ n: '1e3' })
  })

  test('A number is the same text whether the file or the caller gives it', async () => {
    const text = `kind: module
name: m
params: [{name: n, default: 10}]
steps: [{name: s, type: function, function: 'log_info(n + 1, n > 9, n == 10)'}, {name: t, type: bash, command: 'echo {{ n + 1 }}'}]
`
    expect(await output(text)).toEqual(await output(text, { n: '10' }))
  })
})
