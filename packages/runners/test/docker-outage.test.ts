// exclusive: docker
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import type { Outcome, Runner } from '@scanfarm/contracts'
import { until } from '@scanfarm/testing'
import { createDockerRunners, type DockerRunners } from '../src/index.ts'
import { importTestImage, startEngine, TEST_IMAGE, type PrivateEngine } from './docker-engine.ts'
import { TEST_MS, alive, token } from './processes.ts'

jest.setTimeout(TEST_MS)

const NEVER = new AbortController().signal
const OWNER = 'outage'

let engine: PrivateEngine
let provider: DockerRunners
let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-docker-runs-'))
  await chmod(folder, 0o777)
  engine = await startEngine()
  await importTestImage(engine.address)
  provider = createDockerRunners({ engine: engine.address, owner: OWNER })
})
afterAll(async () => {
  await provider?.[Symbol.asyncDispose]()
  await engine?.[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

const open = (): Promise<Runner> =>
  provider.open(
    { type: 'docker', image: TEST_IMAGE },
    {
      runUuid: crypto.randomUUID(),
      attempt: 1,
      folder,
      marker: `outage-${crypto.randomUUID()}`,
      signal: NEVER,
      log: () => {},
    },
  )

const sh = (runner: Runner, script: string, signal = NEVER): Promise<Outcome> =>
  runner.run({ argv: ['sh', '-c', script], env: {}, graceMs: 100 }, { signal })

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'a command is lost when its engine ends by %s, and the restarted engine is used again',
  async (signal) => {
    const word = token()
    const runner = await open()
    const running = sh(runner, `sleep ${word}`)
    await until(() => alive(word).length > 0)
    await engine.end(signal)
    expect(await running).toEqual({ kind: 'lost', reason: expect.stringMatching(/engine|container/) })
    // Nothing waits for the engine: neither the next command nor the end of the run.
    expect((await sh(runner, 'true')).kind).toMatch(/^(lost|not-started)$/)
    await runner[Symbol.asyncDispose]()
    await expect(open()).rejects.toThrow(/the docker engine at .* cannot be reached/)

    await engine.startAgain()
    const next = await open()
    expect(await sh(next, 'exit 3')).toEqual({ kind: 'exited', code: 3 })
    await next[Symbol.asyncDispose]()
    await provider.sweepContainers(() => false)
    await until(() => alive(word).length === 0)
  },
)

test('a command whose engine hangs can be cancelled, and ends when the engine continues', async () => {
  const word = token()
  const cancel = new AbortController()
  const runner = await open()
  const running = sh(runner, `sleep ${word}`, cancel.signal)
  await until(() => alive(word).length > 0)
  await engine.send('SIGSTOP')
  cancel.abort()
  expect(await running).toMatchObject({ kind: 'cancelled' })
  await engine.send('SIGCONT')
  await runner[Symbol.asyncDispose]()
  await until(() => alive(word).length === 0)
})
