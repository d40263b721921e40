import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { createRunners, type Runners } from '@scanfarm/runners'
import { TEST_IMAGE, useEngine, type TestEngine } from '@scanfarm/runners/testing'
import { bash, openBench, TEST_MS, type Bench } from './bench.ts'

jest.setTimeout(TEST_MS)

let engine: TestEngine
let runners: Runners
let bench: Bench
/** An engine that does not see the files of the executor. */
beforeAll(async () => {
  engine = await useEngine()
  runners = createRunners({ docker: { engine: engine.address, owner: 'copied-files', files: 'copy' } })
  bench = await openBench()
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
  await runners?.[Symbol.asyncDispose]()
  await engine?.[Symbol.asyncDispose]()
})

const filed = (target: string, name: string): Promise<string> =>
  readFile(join(bench.folder, 'work/workspaces', target, name), 'utf8')

test.each([true, false])(
  'Files follow the steps of a run (one container for all: %s)',
  async (persistent) => {
    await using _executor = bench.executor({ runners })
    const target = `files-${persistent}.test`
    const workflow = {
      kind: 'module' as const,
      runner: 'docker' as const,
      runner_config: { image: TEST_IMAGE, persistent },
      steps: [
        bash('there', 'echo one > {{Output}}/log', { std_file: '{{Output}}/printed' }),
        {
          name: 'here',
          type: 'function' as const,
          function: 'save_content(read_file("{{Output}}/log") + "two\\n", "{{Output}}/log")',
        },
        bash('there again', 'echo three >> {{Output}}/log; test -e {{Output}}/printed'),
      ],
    }
    const [runId = 0] = await bench.submit(workflow, { targets: [target] })
    expect(await bench.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
    expect(await filed(target, 'log')).toBe('one\ntwo\nthree\n')
  },
)

test('Files go from the container of a module to that of a step, and on from there', async () => {
  await using _executor = bench.executor({ runners })
  const workflow = {
    kind: 'module' as const,
    runner: 'docker' as const,
    runner_config: { image: TEST_IMAGE },
    steps: [
      bash('module', 'echo module > {{Output}}/log'),
      {
        name: 'step',
        type: 'remote-bash' as const,
        step_runner: 'docker' as const,
        step_runner_config: { image: TEST_IMAGE },
        command: 'echo step >> {{Output}}/log',
      },
      bash('module again', 'cat {{Output}}/log'),
    ],
  }
  const [runId = 0] = await bench.submit(workflow, { targets: ['step.test'] })
  expect(await bench.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
  const [, , last] = await bench.steps(runId)
  expect(last?.output).toBe('module\nstep\n')
})
