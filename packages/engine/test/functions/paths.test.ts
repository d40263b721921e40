import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'

describe('paths of a workflow', () => {
  const runs = useRuns()

  test('relative paths start in the folder of the run', async () => {
    const { status, output, recorder } = await runs.run(`kind: module
name: relative
steps:
  - {name: list, type: bash, command: 'printf "a\\nb\\n"', std_file: lists/items.txt}
  - name: each
    type: foreach
    input: lists/items.txt
    variable: item
    step: {name: say, type: bash, command: 'echo "got {{item}}"'}
    exports: {streaming_output: lists/got.txt}
  - {name: read, type: function, function: 'read_file("lists/got.txt")', exports: {got: '{{result}}'}}
reports:
  - {name: got, path: lists/got.txt, type: text}
`)
    expect({ status, errors: recorder.steps.map(({ errorMessage }) => errorMessage) }).toEqual({
      status: 'completed',
      errors: ['', '', ''],
    })
    expect(readFileSync(join(output, 'lists/items.txt'), 'utf8')).toBe('a\nb\n')
    expect(recorder.steps.at(-1)?.output).toMatch(/^got [ab]\ngot [ab]\n/)
    expect(recorder.artifacts).toContainEqual(
      expect.objectContaining({ name: 'got', path: join(output, 'lists/got.txt') }),
    )
  })

  test('empty paths are treated as missing files', async () => {
    const { status, recorder } = await runs.run(`kind: module
name: nothing
params: [{name: wordlist, default: ''}]
steps:
  - {name: condition, type: bash, pre_condition: 'file_exists("{{wordlist}}")', command: echo no}
  - {name: number, type: bash, pre_condition: 'file_length("{{wordlist}}") > 0', command: echo no}
  - {name: text, type: function, function: 'read_file("{{wordlist}}") + read_lines("{{wordlist}}").length + sort_unix("")'}
  - {name: made, type: function, function: 'save_content("x", "{{wordlist}}") || rm_rf(" ")'}
  - {name: loop, type: foreach, input: '{{wordlist}}', variable: x, step: {name: y, type: bash, command: echo no}, on_error: [{action: continue}]}
reports:
  - {name: none, path: '{{wordlist}}', type: text}
`)
    expect(status).toBe('completed')
    expect(recorder.steps.map(({ name, status: end }) => [name, end])).toEqual([
      ['condition', 'skipped'],
      ['number', 'skipped'],
      ['text', 'completed'],
      ['made', 'completed'],
      ['loop', 'failed'],
    ])
    expect(recorder.steps[2]?.output).toMatch(/0false\n$/)
    expect(recorder.steps[3]?.output).toMatch(/false\n$/)
    expect(recorder.steps[4]?.errorMessage).toMatch(/^failed to count input lines/)
    expect(recorder.lines).toContain('warn: file_exists: argument 1 must be a path')
    expect(recorder.artifacts.filter(({ type }) => type === 'report')).toEqual([])
  })

  test('folders above the folder of the run are never removed', async () => {
    const { recorder, output } = await runs.run(
      `kind: module
name: above
steps:
  - {name: tree, type: function, function: 'rm_rf("{{Output}}/..")', on_error: [{action: continue}]}
  - {name: others, type: function, function: 'remove_all_except("{{Output}}/..", "nothing")', on_error: [{action: continue}]}
  - {name: link, type: bash, command: 'ln -s "$(dirname {{Output}})" {{Output}}/../above-link'}
  - {name: throughLink, type: function, function: 'remove_all_except("{{Output}}/../above-link", "x")', on_error: [{action: continue}]}
`,
      { paths: [{ path: runs.folder(), write: true }] },
    )
    const above = dirname(output)
    const refusals = recorder.steps.filter(({ name }) => name !== 'link')
    expect(refusals.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed'])
    for (const { errorMessage } of refusals) expect(errorMessage).toMatch(/contains the run's own folder$/)
    expect(existsSync(join(above, 'above-link'))).toBe(true)
    expect(existsSync(output)).toBe(true)
  })
})
