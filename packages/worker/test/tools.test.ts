import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { startWorker } from '@scanfarm/worker'
import { eventually, freshName, openBench, TEST_MS, type Bench } from './bench.ts'

jest.setTimeout(TEST_MS)

let bench: Bench
beforeAll(async () => {
  bench = await openBench()
  await chmod(bench.folder, 0o755)
})
afterAll(async () => {
  await bench?.[Symbol.asyncDispose]()
})

const PASSABLE = 0o755

const program = async (
  folder: string,
  name: string,
  { text = 'true', mode = PASSABLE } = {},
): Promise<string> => {
  const file = join(bench.folder, folder, name)
  await mkdir(join(bench.folder, folder), { recursive: true })
  // It comes in one step: a change of rights alone is noticed much later.
  const made = join(bench.folder, name)
  await writeFile(made, `#!/bin/sh\n${text}\n`)
  await chmod(made, mode)
  await rename(made, file)
  return file
}

const offered = async (): Promise<readonly string[]> => {
  const { data } = await bench.store.workers.list()
  return data.flatMap(({ capabilities }) => capabilities)
}
const offers = (word: string, wanted: boolean): Promise<true> =>
  eventually(`${word} being ${wanted ? 'offered' : 'withdrawn'}`, async () =>
    (await offered()).includes(word) === wanted ? true : undefined,
  )

test('a worker offers the tools that its commands can start now', async () => {
  await program('tools', 'open-tool')
  await program('tools', 'private-tool', { mode: 0o700 })
  await program('closed', 'hidden-tool')
  await chmod(join(bench.folder, 'closed'), 0o700)
  await program('tools', 'httpx', { text: 'echo "Usage: httpx [OPTIONS] URL"; exit 2' })
  const path = ['tools', 'closed'].map((name) => join(bench.folder, name)).join(':')
  await using _worker = await startWorker(
    bench.config({ SCANFARM_RUNNER_USER: 'nobody', SCANFARM_RUNNER_PATH: `${path}:/usr/bin:/bin` }),
    { log: silentLogger },
  )
  await offers('tool:open-tool', true)
  const words = await offered()
  for (const name of ['private-tool', 'hidden-tool', 'httpx']) expect(words).not.toContain(`tool:${name}`)

  const job = { requirementClass: 'tool:late-tool' }
  const [runId = 0] = await bench.submit([{ name: 'use', command: 'late-tool' }], [freshName()], job)
  await bench.until(runId, (run) => run.waiting_reason === 'no live worker offers: tool:late-tool')
  const late = await program('tools', 'late-tool', { text: 'echo late' })
  expect(await bench.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
  await offers('tool:late-tool', true)

  await rm(late)
  await offers('tool:late-tool', false)
  const [next = 0] = await bench.submit([{ name: 'use', command: 'late-tool' }], [freshName()], job)
  expect(await bench.run(next)).toMatchObject({
    status: 'queued',
    waiting_reason: 'no live worker offers: tool:late-tool',
  })
})

test('a worker that stops does not wait for the answer of a tool', async () => {
  const started = join(bench.folder, 'started')
  await mkdir(join(bench.folder, 'slow'))
  await using worker = await startWorker(
    bench.config({ SCANFARM_RUNNER_PATH: `${join(bench.folder, 'slow')}:/usr/bin:/bin` }),
    { log: silentLogger },
  )
  await offers('tool:sh', true)
  await writeFile(started, '', { mode: 0o666 })
  await chmod(started, 0o666)
  await program('slow', 'httpx', { text: `echo $$ > ${started}; exec sleep 300` })
  await eventually('the look', async () => ((await readFile(started, 'utf8')) === '' ? undefined : true))
  const began = performance.now()
  await worker[Symbol.asyncDispose]()
  // The look ends a tool that does not answer after ten seconds.
  expect(performance.now() - began).toBeLessThan(6_000)
})
