import { createServer } from 'node:http'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { useRuns } from '../harness/runs.ts'

const { run, folder } = useRuns()

/** Takes every request and never answers. */
const silent = createServer(() => undefined)
let silentUrl = ''
beforeAll(async () => {
  silent.listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const address = silent.address()
  silentUrl = `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`
})
afterAll(() => {
  silent.closeAllConnections()
  silent.close()
})

const module = (step: string): string => `
kind: module
name: slow
steps:
  - ${step}
`

describe('the timeout of a step', () => {
  const steps: Readonly<Record<string, () => string>> = {
    'a function that waits': () => `{name: s, type: function, timeout: 0.3, function: sleep(60)}`,
    'a function that runs a command': () =>
      `{name: s, type: function, timeout: 0.3, function: exec_cmd("sleep 60")}`,
    'functions one after the other': () =>
      `{name: s, type: function, timeout: 0.3, functions: [sleep(0.2), sleep(60), sleep(60)]}`,
    'functions side by side': () =>
      `{name: s, type: function, timeout: 0.3, parallel_functions: [sleep(60), sleep(50)]}`,
    'an expression of the engine': () =>
      `{name: s, type: function, timeout: 0.3, function: 'let n = 0; while (true) n++'}`,
    'steps side by side': () =>
      `{name: s, type: parallel-steps, timeout: 0.3, parallel_steps: [{name: c, type: bash, command: sleep 60}]}`,
    'a loop': () =>
      `{name: s, type: foreach, timeout: 0.3, input: "${join(folder(), 'lines')}", variable: x, threads: 2, step: {name: c, type: bash, command: sleep 60}}`,
    'a request': () => `{name: s, type: http, timeout: 0.3, url: "${silentUrl}"}`,
    'a language model': () =>
      `{name: s, type: llm, timeout: 0.3, messages: [{role: user, content: hi}], llm_config: {base_url: "${silentUrl}", model: m}}`,
    'an agent': () =>
      `{name: s, type: agent, timeout: 0.3, query: hi, agent_tools: [{preset: bash}], max_iterations: 2, llm_config: {base_url: "${silentUrl}", model: m}}`,
  }
  for (const [what, step] of Object.entries(steps)) {
    test(`the timeout of a step applies to ${what}`, async () => {
      writeFileSync(join(folder(), 'lines'), 'a\nb\nc\nd\n')
      const { status, errorMessage, recorder } = await run(module(step()), {
        paths: [{ path: folder(), write: false }],
      })
      expect(status).toBe('failed')
      expect(errorMessage).toContain('step timed out after 0.3s')
      expect(recorder.byName('s')).toMatchObject({ status: 'failed' })
      expect(recorder.byName('s').durationMs).toBeLessThan(20_000)
    })
  }

  test('the timeout of a step applies to each attempt, and not to its error actions', async () => {
    const { status, recorder } = await run(
      module(
        `{name: s, type: function, timeout: 0.2, function: sleep(60), retry: {attempts: 2, delay: 10ms}, on_error: [{action: run, type: bash, command: 'sleep 0.4; echo done'}, {action: continue}]}`,
      ),
    )
    expect(status).toBe('completed')
    expect(recorder.byName('s').output).toContain('[retry 2/2 in 10ms: step timed out after 0.2s]')
    expect(recorder.steps.find(({ name }) => name !== 's')).toMatchObject({ status: 'completed' })
  })

  test('a step within its timeout is not affected, nor one with an empty timeout or one that is rendered as a negative number', async () => {
    const { status, recorder } = await run(
      module(`{name: s, type: function, timeout: 30, function: "1"}
  - {name: t, type: function, timeout: '{{0 - 1}}', function: sleep(0.01)}
  - {name: u, type: bash, timeout: 0, command: sleep 0.01}
  - {name: v, type: function, timeout: '{{nothing}}', function: "1"}`),
    )
    expect(status).toBe('completed')
    expect(recorder.story).toEqual(['s completed', 't completed', 'u completed', 'v completed'])
  })
})

describe('commands of a run with a limited rate', () => {
  const alone = 'mkdir now || exit 1; sleep 0.02; rmdir now'

  test('run one after the other in a loop with threads, and say so', async () => {
    writeFileSync(join(folder(), 'lines'), 'a\nb\nc\nd\n')
    const { errorMessage, recorder } = await run(
      module(
        `{name: b, type: foreach, input: "${join(folder(), 'lines')}", variable: x, threads: 4, step: {name: i, type: bash, command: "${alone}"}}`,
      ),
      { rate: 1, paths: [{ path: folder(), write: false }] },
    )
    expect(errorMessage).toBe('')
    expect(recorder.lines.filter((line) => line.includes('one after the other'))).toHaveLength(1)
  })

  const meet = (own: string, other: string) =>
    `touch ${own}; until [ -e ${other} ]; do sleep 0.01; done; echo $PART {{Rate}}`
  const rated = {
    rate: 6,
    env: { PATH: process.env['PATH'] ?? '', PART: '6' },
    rateVariables: (rate: number) => ({ PART: String(rate) }),
  }

  test('divide it among branches, which may wait for each other', async () => {
    const { recorder } = await run(
      module(`{name: z, type: bash, command: 'echo $PART {{Rate}}', exports: {first: stdout}}
  - {name: a, depends_on: [z], type: bash, timeout: 20, command: "${meet('a', 'b')}", exports: {from_a: stdout}}
  - {name: b1, depends_on: [z], type: bash, command: 'echo $PART {{Rate}}'}
  - {name: b, depends_on: [b1], type: bash, timeout: 20, command: "${meet('b', 'c1')}"}
  - {name: c, depends_on: [z], type: bash, timeout: 20, parallel_commands: ["${meet('c1', 'c2')}", "${meet('c2', 'b')}"]}
  - {name: end, depends_on: [a, b, c], type: bash, command: 'echo $PART {{Rate}} {{first}} {{from_a}}'}`),
      rated,
    )
    const outputs = ['z', 'a', 'b1', 'b', 'c', 'end'].map((name) => recorder.byName(name).output)
    expect(outputs).toEqual(['6 6\n', '2 2\n', '2 2\n', '2 2\n', '1 1\n1 1\n', '6 6 6 6 2 2\n'])
    expect(recorder.lines.filter((line) => line.includes('one after the other'))).toEqual([])
  })

  test('divide it into fractions if there are more of them side by side, which may all wait for each other', async () => {
    const all = (name: string, many: number) =>
      `touch ${name}$$; until [ $(ls | grep -c ^${name}) = ${many} ]; do sleep 0.01; done; echo $PART {{Rate}}`
    const { recorder } = await run(
      module(`{name: c, type: bash, timeout: 20, parallel_commands: ["${all('c', 3)}", "${all('c', 3)}", "${all('c', 3)}"]}
  - {name: f, type: function, timeout: 20, parallel_functions: ['exec_cmd("${all('f', 2)}")', 'exec_cmd("${all('f', 2)}")']}
  - {name: s, type: parallel-steps, parallel_steps: [
      {name: x, type: bash, timeout: 20, parallel_commands: ["${all('s', 3)}", "${all('s', 3)}"]},
      {name: y, type: function, timeout: 20, function: 'exec_cmd("${all('s', 3)}")'}]}`),
      {
        rate: 1,
        env: { PATH: process.env['PATH'] ?? '', PART: '1' },
        rateVariables: (rate) => ({ PART: String(rate) }),
      },
    )
    expect(recorder.byName('c')).toMatchObject({ status: 'completed', output: '0.333 0.333\n'.repeat(3) })
    expect(recorder.byName('f')).toMatchObject({ status: 'completed', output: '0.5 0.5\n' })
    expect(recorder.byName('x')).toMatchObject({ status: 'completed', output: '0.25 0.25\n'.repeat(2) })
    expect(recorder.byName('y')).toMatchObject({ status: 'completed', output: '0.5 0.5\n' })
  })

  test('divide it if they run side by side, so that one may wait for the other', async () => {
    const { recorder } = await run(
      module(`{name: s, type: bash, timeout: 20, parallel_commands: ["${meet('a', 'b')}", "${meet('b', 'a')}"]}
  - {name: p, type: parallel-steps, parallel_steps: [
      {name: c, type: bash, timeout: 20, command: "${meet('c', 'd')}"},
      {name: d, type: bash, timeout: 20, command: "${meet('d', 'c')}"}]}
  - {name: t, type: bash, command: 'echo $PART {{Rate}}'}`),
      {
        rate: 5,
        env: { PATH: process.env['PATH'] ?? '', PART: '5' },
        rateVariables: (rate) => ({ PART: String(rate) }),
      },
    )
    expect(recorder.byName('s')).toMatchObject({ status: 'completed', output: '2 2\n2 2\n' })
    for (const name of ['c', 'd'])
      expect(recorder.byName(name)).toMatchObject({ status: 'completed', output: '2 2\n' })
    expect(recorder.byName('t')).toMatchObject({ output: '5 5\n' })
  })

  test('need not wait for their turn to be stopped', async () => {
    const { recorder } = await run(
      module(`{name: s, type: parallel-steps, parallel_steps: [
      {name: a, type: bash, timeout: 60, command: 'until [ -e over ]; do sleep 0.05; done'},
      {name: b, type: function, timeout: 0.3, function: exec_cmd("sleep 60"), on_error: [{action: run, type: function, functions: ['save_content("over", "{{Output}}/over")']}, {action: continue}]}]}`),
      { rate: 10 },
    )
    expect(recorder.byName('a')).toMatchObject({ status: 'completed' })
    expect(recorder.byName('b')).toMatchObject({ status: 'failed' })
  })
})
