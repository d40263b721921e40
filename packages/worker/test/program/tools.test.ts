import { chmod, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { beforeAll, expect, jest, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { startWorker } from '@scanfarm/worker'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { openTestCluster } from '../harness/workers.ts'
import { bash, freshName, pinned, TEST_MS } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const cluster = forAllTests(openTestCluster)
beforeAll(async () => {
  await chmod(cluster.folder, 0o755)
})

const PASSABLE = 0o755

const program = async (
  folder: string,
  name: string,
  { text = 'true', mode = PASSABLE } = {},
): Promise<string> => {
  const file = join(cluster.folder, folder, name)
  await mkdir(join(cluster.folder, folder), { recursive: true })
  // Renamed into place: a change of permissions alone is noticed much later.
  const made = join(cluster.folder, name)
  await writeFile(made, `#!/bin/sh\n${text}\n`)
  await chmod(made, mode)
  await rename(made, file)
  return file
}

const offered = async (): Promise<readonly string[]> => {
  const { data } = await cluster.store.workers.list()
  return data.flatMap(({ capabilities }) => capabilities)
}
const offers = (word: string, wanted: boolean): Promise<true> =>
  until(async () => ((await offered()).includes(word) === wanted ? true : undefined), {
    what: `${word} being ${wanted ? 'offered' : 'withdrawn'}`,
  })

test('A worker offers the tools that its commands can start, and updates them', async () => {
  await program('tools', 'open-tool')
  await program('tools', 'private-tool', { mode: 0o700 })
  await program('closed', 'hidden-tool')
  await chmod(join(cluster.folder, 'closed'), 0o700)
  await program('tools', 'httpx', { text: 'echo "Usage: httpx [OPTIONS] URL"; exit 2' })
  const path = ['tools', 'closed'].map((name) => join(cluster.folder, name)).join(':')
  await using _worker = await startWorker(
    cluster.config({ SCANFARM_RUNNER_USER: 'nobody', SCANFARM_RUNNER_PATH: `${path}:/usr/bin:/bin` }),
    { log: silentLogger },
  )
  await offers('tool:open-tool', true)
  const words = await offered()
  for (const name of ['private-tool', 'hidden-tool', 'httpx']) expect(words).not.toContain(`tool:${name}`)

  const job = { requirementClass: 'tool:late-tool' }
  const [runId = 0] = await cluster.submit([{ name: 'use', command: 'late-tool' }], [freshName()], job)
  await cluster.until(runId, (run) => run.waiting_reason === 'no live worker offers: tool:late-tool')
  const late = await program('tools', 'late-tool', { text: 'echo late' })
  expect(await cluster.ended(runId)).toMatchObject({ status: 'completed', error_message: '' })
  await offers('tool:late-tool', true)

  await rm(late)
  await offers('tool:late-tool', false)
  const [next = 0] = await cluster.submit([{ name: 'use', command: 'late-tool' }], [freshName()], job)
  expect(await cluster.run(next)).toMatchObject({
    status: 'queued',
    waiting_reason: 'no live worker offers: tool:late-tool',
  })
})

test('A worker that stops does not wait for a tool to answer', async () => {
  const started = join(cluster.folder, 'started')
  await mkdir(join(cluster.folder, 'slow'))
  await using worker = await startWorker(
    cluster.config({ SCANFARM_RUNNER_PATH: `${join(cluster.folder, 'slow')}:/usr/bin:/bin` }),
    { log: silentLogger },
  )
  await offers('tool:sh', true)
  await writeFile(started, '', { mode: 0o666 })
  await chmod(started, 0o666)
  await program('slow', 'httpx', { text: `echo $$ > ${started}; exec sleep 300` })
  await until(async () => ((await readFile(started, 'utf8')) === '' ? undefined : true), {
    what: 'the search for tools',
  })
  const began = performance.now()
  await worker[Symbol.asyncDispose]()
  // The detection kills a tool that does not answer within 20 seconds.
  expect(performance.now() - began).toBeLessThan(15_000)
})

const NAMES = ['dnsx', 'ffuf', 'nmap', 'unlisted', 'whatweb']
const versionsOf = async (): Promise<Record<string, string>> => {
  const { data } = await cluster.store.workers.list()
  const tools = data.flatMap((worker) => (worker.status === 'lost' ? [] : worker.tools))
  return Object.fromEntries(
    tools.filter(({ name }) => NAMES.includes(name)).map(({ name, version }) => [name, version]),
  )
}
const hasVersions = (wanted: Record<string, string>): Promise<unknown> =>
  until(versionsOf, (versions) => isDeepStrictEqual(versions, wanted), { what: 'the versions' })

test('A worker reports versions of programs as the user of commands, and its runs record them', async () => {
  const asked = join(cluster.folder, 'asked')
  await writeFile(asked, '', { mode: 0o666 })
  await chmod(asked, 0o666)
  const answer = (text: string) => `echo "$(id -un) \${0##*/} $*" >> ${asked}; echo "${text}"`
  await program('versions', 'nmap', { text: answer('Nmap version 7.93 ( https://nmap.org )') })
  await program('versions', 'ffuf', { text: `${answer('ffuf version: 1.1.0')}; exit 3` })
  await program('versions', 'whatweb', { text: answer('another program') })
  await program('versions', 'dnsx', { mode: 0o700 })
  await program('versions', 'unlisted', { text: answer('9.9') })
  await using _worker = await startWorker(
    cluster.config({
      SCANFARM_RUNNER_USER: 'nobody',
      SCANFARM_RUNNER_PATH: `${join(cluster.folder, 'versions')}:/usr/bin:/bin`,
    }),
    { log: silentLogger },
  )
  await hasVersions({ nmap: '7.93', ffuf: '1.1.0', whatweb: '' })
  const lines = (): string[] => readFileSync(asked, 'utf8').trim().split('\n').sort()
  expect(lines()).toEqual(['nobody ffuf -V', 'nobody nmap --version', 'nobody whatweb --version'])

  const toolsOfRun = async (): Promise<unknown> => {
    const steps = [bash('use', 'true')]
    const [runId = 0] = await cluster.submit([], [freshName()], {
      ...pinned({ steps, dependencies: { commands: ['nmap', 'unlisted'] } }),
      requirementClass: 'tool:nmap tool:unlisted',
    })
    return (await cluster.ended(runId)).tools
  }
  expect(await toolsOfRun()).toEqual([{ name: 'nmap', version: '7.93' }])

  await program('versions', 'nmap', { text: answer('Nmap version 7.95 ( https://nmap.org )') })
  await hasVersions({ nmap: '7.95', ffuf: '1.1.0', whatweb: '' })
  expect(await toolsOfRun()).toEqual([{ name: 'nmap', version: '7.95' }])
  // Programs that have not changed are not started again.
  expect(lines().filter((line) => line.includes('ffuf'))).toHaveLength(1)
  await rm(join(cluster.folder, 'versions/ffuf'))
  await program('versions', 'whatweb', {
    text: answer('WhatWeb version 0.5.5 ( https://morningstarsecurity.com )'),
  })
  await until(versionsOf, ({ whatweb }) => whatweb === '0.5.5', { what: 'the new version' })
})
