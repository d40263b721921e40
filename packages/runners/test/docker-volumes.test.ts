// exclusive: docker
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { RACE_TRIES, raceSwapper } from '@scanfarm/testing'
import { createDockerRunners, type DockerRunnersOptions } from '../src/index.ts'
import { TEST_IMAGE, useEngine } from './docker-engine.ts'

jest.setTimeout(600_000)

const SECRET = 'secret of the worker'
const { signal } = new AbortController()
const exec = promisify(execFile)

const engine = forAllTests(useEngine)
let base: string
let run: string
beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'docker-volumes-'))
  run = join(base, 'run')
  await mkdir(join(run, 'd'), { recursive: true })
  await writeFile(join(run, 'd/file'), 'mine')
})
afterEach(() => rm(base, { recursive: true, force: true }))

/** What a command in a container with the volumes says. */
const say = async (
  script: string,
  volumes: readonly string[],
  { files = 'mount', image = TEST_IMAGE }: { files?: DockerRunnersOptions['files']; image?: string } = {},
): Promise<string> => {
  await using provider = createDockerRunners({ engine: engine.address, owner: 'volumes', files })
  const context = {
    runUuid: crypto.randomUUID(),
    attempt: 1,
    folder: run,
    marker: `volumes-${crypto.randomUUID()}`,
    signal,
    log: () => {},
  }
  await using runner = await provider.open({ type: 'docker', image, network: 'none', volumes }, context)
  let said = ''
  await runner.run(
    { argv: ['sh', '-c', script], env: {} },
    { signal, onOutput: (_, chunk) => void (said += chunk.toString()) },
  )
  return said
}

test('a folder below that of the run is at its target, also where the image has a folder', async () => {
  const volumes = [`${run}/d:/root`, `${run}/new/deep:/some/where`, `${run}/d/file:/a-file:ro`]
  const script =
    'cat /root/file /a-file; echo made >/some/where/file; echo no 2>/dev/null >/a-file || echo -read-only'
  expect(await say(script, volumes)).toBe('minemine-read-only\n')
  expect(await readFile(join(run, 'new/deep/file'), 'utf8')).toBe('made\n')
  expect(await readFile(join(run, 'd/file'), 'utf8')).toBe('mine')
})

test('a folder below that of the run is at its target where the folder is copied', async () => {
  const script = `echo made >/some/where/file; cat ${run}/new/file`
  expect(await say(script, [`${run}/new:/some/where`], { files: 'copy' })).toBe('made\n')
})

test('a link takes the place of a folder with files in the image, but not of a volume that the image declares', async () => {
  const docker = async (...args: string[]): Promise<string> =>
    (await exec('docker', ['--host', engine.address, ...args])).stdout.trim()
  const image = 'scanfarm-test-declared:latest'
  const made = await docker('create', TEST_IMAGE, 'sh')
  await docker('cp', join(run, 'd/file'), `${made}:/root/of-the-image`)
  await docker('commit', '--change', 'VOLUME /declared', made, image)
  try {
    expect(await say('ls /root', [`${run}/d:/root`], { image })).toBe('file\n')
    await expect(say('true', [`${run}/d:/declared`], { image })).rejects.toThrow(
      /^cannot start a container from the image .*: no link can be placed at \/declared: .*busy/,
    )
  } finally {
    await docker('rm', '--force', made)
    await docker('rmi', '--force', image)
  }
})

test('a container gets no folder of the machine while a process swaps a volume with a link', async () => {
  const foreign = join(base, 'foreign')
  await mkdir(foreign)
  await writeFile(join(foreign, 'file'), SECRET)
  const seen = new Set<string>()
  // A try starts a container, which is slow; by name, one of three would get the other folder.
  const options = { folder: join(run, 'd'), target: foreign, tries: Math.ceil(RACE_TRIES / 20) }
  const successes = await raceSwapper(options, async () => {
    seen.add(await say('cat /x/file; echo written >/x/made', [`${run}/d:/x`]))
  })
  expect(successes).toBeGreaterThan(0)
  expect([...seen].join()).not.toContain(SECRET)
  expect(await readdir(foreign)).toEqual(['file'])
})
