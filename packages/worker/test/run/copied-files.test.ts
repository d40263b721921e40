// exclusive: docker
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { createRunners, type Runners } from '@scanfarm/runners'
import { TEST_IMAGE, useEngine, type TestEngine } from '@scanfarm/runners/testing'
import { openHarness, type Harness } from '../harness/executors.ts'
import { TEST_MS, bash } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

let engine: TestEngine
let runners: Runners
let harness: Harness
/** A docker engine that cannot mount the files of the executor. */
beforeAll(async () => {
  engine = await useEngine()
  runners = createRunners({ docker: { engine: engine.address, owner: 'copied-files', files: 'copy' } })
  harness = await openHarness()
})
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]()
  await runners?.[Symbol.asyncDispose]()
  await engine?.[Symbol.asyncDispose]()
})

const filed = (target: string, name: string): Promise<string> =>
  readFile(join(harness.folder, 'work/workspaces', target, name), 'utf8')

test.each([true, false])(
  'Files of a run are copied to each of its steps (persistent container: %s)',
  async (persistent) => {
    await using _executor = harness.executor({ runners })
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
    const [runId = 0] = await harness.submit(workflow, { targets: [target] })
    expect(await harness.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
    expect(await filed(target, 'log')).toBe('one\ntwo\nthree\n')
  },
)

test('Files are copied from the container of a module to that of a step and to later steps', async () => {
  await using _executor = harness.executor({ runners })
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
  const [runId = 0] = await harness.submit(workflow, { targets: ['step.test'] })
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
  const [, , last] = await harness.steps(runId)
  expect(last?.output).toBe('module\nstep\n')
})
