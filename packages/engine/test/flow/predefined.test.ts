import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { lint } from '@scanfarm/language'
import { FUNCTIONS } from '@scanfarm/functions'
import { useRuns } from '../harness/runs.ts'

const runs = useRuns()
const HEAD = 'kind: module\nname: m\n'

describe('files that predefined variables name', () => {
  test('A workflow that names the logs and the workflow file of its run can read them during the run', async () => {
    const { recorder, output, errorMessage } = await runs.run(
      `${HEAD}steps:
  - {name: first, type: bash, log: 'about to speak', command: 'ln -sf /etc/hostname {{Output}}/x; echo spoken'}
  - {name: logs, type: bash, command: 'cat {{StateExecutionLog}}; head -n 1 {{StateConsoleLog}}'}
  - {name: own, type: bash, command: 'grep "^name:" {{StateWorkflowFile}}'}
  - {name: hides, type: bash, command: 'echo hush'}
`,
      { secrets: ['hush'] },
    )
    expect(errorMessage).toBe('')
    const logs = recorder.byName('logs').output
    expect(logs).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z INFO about to speak\nspoken\n$/)
    expect(recorder.byName('own').output).toBe('name: m\n')
    expect(readFileSync(join(output, 'run-console.log'), 'utf8')).toContain('***')
    for (const name of ['run-execution.log', 'run-console.log', 'run-workflow.yaml'])
      expect(lstatSync(join(output, name)).isFile()).toBe(true)
  })

  test('A workflow that names none of them has none of them', async () => {
    const { output } = await runs.run(`${HEAD}steps: [{name: a, type: bash, command: echo}]\n`)
    for (const name of ['run-execution.log', 'run-console.log', 'run-workflow.yaml', 'run-state.json'])
      expect(existsSync(join(output, name))).toBe(false)
  })
})

describe('predefined variables', () => {
  const value = async (text: string, more = '', params: Record<string, string> = {}): Promise<string> => {
    const { recorder } = await runs.run(
      `${HEAD}${more}steps: [{name: show, type: bash, command: 'echo "${text}"'}]\n`,
      { params },
    )
    return recorder.byName('show').output.trim()
  }

  test('CurrentTime has no zone and no fractions', async () => {
    expect(await value('{{CurrentTime}}')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/)
  })

  test('HooksEnabled is true only for a workflow with hooks', async () => {
    expect(await value('{{HooksEnabled}}')).toBe('false')
    expect(await value('{{HooksEnabled}}', 'hooks: {pre_scan_steps: [{command: "true"}]}\n')).toBe('true')
  })

  test('The numbers of a part of a list come from the params of the caller', async () => {
    const text = '{{ChunkIndex}} {{ChunkSize}} {{TotalChunks}} {{ChunkStart}} {{ChunkEnd}}'
    const params = {
      chunk_index: '2',
      chunk_size: '50',
      total_chunks: '4',
      chunk_start: '100',
      chunk_end: 'x',
    }
    expect(await value(text, '', params)).toBe('2 50 4 100')
  })

  test('The machine of the run is described', async () => {
    const text = await value('{{PlatformInDocker}} {{PlatformInKubernetes}} {{PlatformCloudProvider}}')
    expect(text).toMatch(/^(true|false) (true|false) [a-z]+$/)
  })
})

describe('exports', () => {
  test.each([
    ['frobnicate(1)', 'frobnicate'],
    ['frobnicate("{{Target}}") + 1', 'frobnicate'],
    ['1 > frobnicate(2)', 'frobnicate'],
  ])('An export that calls an unknown function is an error: %s', async (text, name) => {
    const source = `${HEAD}steps: [{name: s, type: bash, command: 'true', exports: {x: '${text}'}}]\n`
    const message = `there is no function "${name}"`
    expect(lint(source, 'm.yaml', FUNCTIONS)).toContainEqual(
      expect.objectContaining({ severity: 'error', rule: 'unknown-function', message }),
    )
  })

  test('An export of text that looks like a call from afar stays text', async () => {
    const texts = ['Mozilla (X11)', 'a (b) c', 'see RFC(s) 1 and 2', '{{ "frobnicate(" }}1)']
    const exports = texts.map((text, index) => `x${index}: '${text}'`).join(', ')
    const source = `${HEAD}steps: [{name: s, type: bash, command: 'true', exports: {${exports}}}]\n`
    expect(lint(source, 'm.yaml', FUNCTIONS)).toEqual([])
    const { recorder } = await runs.run(source)
    expect(Object.values(recorder.byName('s').exports ?? {})).toEqual([...texts.slice(0, 3), 'frobnicate(1)'])
  })
})
