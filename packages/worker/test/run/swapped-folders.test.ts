// exclusive: docker
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, jest, test } from '@jest/globals'
import { createRunners } from '@scanfarm/runners'
import { startSshServer, TEST_IMAGE, useEngine } from '@scanfarm/runners/testing'
import type { Workflow } from '@scanfarm/language'
import { raceSwapper } from '@scanfarm/testing'
import { openHarness } from '../harness/executors.ts'
import { TEST_MS, bash } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const SECRET = 'secret of the worker'
/** Runs. Each sends and receives the files of its workspace twice. */
const RUNS = Number(process.env['SCANFARM_TEST_RUNS'] ?? 3)

const swappedDuring = async (
  runners: ReturnType<typeof createRunners>,
  runner: Pick<Workflow, 'runner' | 'runner_config'>,
  base?: string,
): Promise<void> => {
  await using harness = await openHarness()
  const folder = join(base ?? harness.folder, 'work')
  await using _executor = harness.executor({ runners, folder })
  const target = 'swapped.test'
  const workspace = join(folder, 'workspaces', target)
  const foreign = join(harness.folder, 'foreign')
  for (const made of [foreign, join(workspace, 'd')]) mkdirSync(made, { recursive: true })
  writeFileSync(join(foreign, 'file'), SECRET)
  for (const name of ['d/file', 'steady']) writeFileSync(join(workspace, name), 'mine')
  const workflow = {
    kind: 'module' as const,
    ...runner,
    steps: [
      bash(
        'there',
        'cat {{Output}}/steady {{Output}}/d/file; mkdir -p {{Output}}/d/made; echo made > {{Output}}/d/made/file',
      ),
      { name: 'here', type: 'function' as const, function: 'file_exists("{{Output}}/d/file")' },
      bash('again', 'cat {{Output}}/d/file'),
    ],
  }
  const outputs: string[] = []
  const completed = await raceSwapper(
    { folder: join(workspace, 'd'), target: foreign, tries: RUNS },
    async () => {
      const [runId = 0] = await harness.submit(workflow, { targets: [target] })
      await harness.ended(runId)
      outputs.push(...(await harness.steps(runId)).map(({ output }) => output))
    },
  )
  expect(completed).toBeGreaterThanOrEqual(RUNS)
  expect(outputs.join('')).toContain('mine')
  expect(outputs.join('')).not.toContain(SECRET)
  expect(readdirSync(foreign)).toEqual(['file'])
  expect(readFileSync(join(foreign, 'file'), 'utf8')).toBe(SECRET)
}

test('A run in containers sends and writes no files elsewhere while a folder is swapped with a link', async () => {
  await using engine = await useEngine()
  await using runners = createRunners({
    docker: { engine: engine.address, owner: 'swapped-folders', files: 'copy' },
  })
  await swappedDuring(runners, { runner: 'docker', runner_config: { image: TEST_IMAGE } })
})

test('A run on an ssh host sends and writes no files elsewhere while a folder is swapped with a link', async () => {
  await using server = await startSshServer()
  const { keyFile, knownHosts, port, user, root } = server
  await using runners = createRunners({ ssh: { keyFile, knownHosts } })
  await swappedDuring(runners, { runner: 'ssh', runner_config: { host: '127.0.0.1', port, user } }, root)
})
