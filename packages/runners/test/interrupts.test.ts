// exclusive: docker
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } from '@jest/globals'
import type { RunnerProvider, RunnerSpec } from '@scanfarm/contracts'
import { createDockerRunners, createHostRunners, createSshRunners } from '../src/index.ts'
import type { StopOptions } from '../src/interruption.ts'
import { cancelAfter, NEVER, PATH, see } from './conformance/harness.ts'
import { TEST_IMAGE, useEngine, type TestEngine } from './docker-engine.ts'
import { alive, TEST_MS, token } from './processes.ts'
import { startSshServer, type TestSshServer } from './ssh-server.ts'

jest.setTimeout(TEST_MS)

const GRACE_MS = 50
/** Every machine starts a command within this time. */
const LONGEST_START_MS = 20_000
const REPORT = 'report.txt'
/** Longer than the kernel's names of processes. */
const PROGRAM = 'scanner-of-weaknesses'
const NAME = PROGRAM.slice(0, 15)

/** Writes its report on INT, after more than the usual time, and has a child that only it ends. */
const scanner = (word: string, seconds: string): string => `#!/bin/sh
trap 'sleep ${seconds}; echo complete >${REPORT}; exit 0' INT
echo go
while :; do sleep 0.02; : ${word}; done
`

let engine: TestEngine
let server: TestSshServer
let folder: string
beforeAll(async () => {
  engine = await useEngine()
  server = await startSshServer()
})
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-interrupts-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))
afterAll(async () => {
  await engine?.[Symbol.asyncDispose]()
  await server?.[Symbol.asyncDispose]()
})

const report = (): Promise<string> => readFile(join(folder, REPORT), 'utf8')

type Subject = (options: StopOptions) => readonly [RunnerProvider, RunnerSpec]

const SUBJECTS: readonly (readonly [string, Subject])[] = [
  ['host', (options) => [createHostRunners(options), { type: 'host' }]],
  [
    'docker',
    (options) => [
      createDockerRunners({ ...options, engine: engine.address, owner: 'interrupts' }),
      { type: 'docker', image: TEST_IMAGE },
    ],
  ],
  [
    'ssh',
    (options) => [
      createSshRunners({ ...options, keyFile: server.keyFile, knownHosts: server.knownHosts }),
      { type: 'ssh', host: '127.0.0.1', port: server.port, user: server.user, workdir: folder },
    ],
  ],
]

describe.each(SUBJECTS)('%s', (_, subject) => {
  const open = async (
    interrupts: ReadonlyMap<string, number>,
    { seconds = '0.2', interpreter = '' } = {},
  ) => {
    const word = token()
    const program = join(folder, PROGRAM)
    await writeFile(program, scanner(word, seconds))
    await chmod(program, 0o755)
    await chmod(folder, 0o777)
    const [provider, spec] = subject({ graceMs: GRACE_MS, interrupts })
    const context = { runUuid: token(), attempt: 1, folder, marker: token(), signal: NEVER, log: () => {} }
    const runner = await provider.open(spec, context)
    const argv = ['/bin/sh', '-c', `${interpreter} ${program} ${word} | cat`]
    return {
      runner,
      command: { argv, env: { PATH }, cwd: folder },
      left: () => alive(word),
      async [Symbol.asyncDispose]() {
        await runner[Symbol.asyncDispose]()
        await provider[Symbol.asyncDispose]()
      },
    }
  }

  test.each(['', 'sh'])(
    'At its time limit a program, started by "%s", that reports only after INT gets INT, and the time to write its report',
    async (interpreter) => {
      await using opened = await open(new Map([[NAME, 10_000]]), { interpreter })
      let timeoutMs = 500
      const run = () => see(opened.runner, { ...opened.command, timeoutMs })
      let seen = await run()
      // On a busy machine the limit may pass before the program has started.
      for (; seen.stdout === '' && timeoutMs < LONGEST_START_MS; seen = await run()) timeoutMs *= 4
      expect(seen).toMatchObject({ outcome: { kind: 'timed-out' }, stdout: 'go\n' })
      expect(await report()).toBe('complete\n')
      expect(opened.left()).toEqual([])
    },
  )

  test('Another program gets TERM at its time limit', async () => {
    await using opened = await open(new Map([['another', 10_000]]))
    const { outcome } = await see(opened.runner, { ...opened.command, timeoutMs: 1_000 })
    expect(outcome.kind).toBe('timed-out')
    await expect(report()).rejects.toThrow('ENOENT')
  })

  test('A cancel grants the usual time only', async () => {
    await using opened = await open(new Map([[NAME, 60_000]]), { seconds: '30' })
    expect((await cancelAfter(opened.runner, opened.command, 'go')).kind).toBe('cancelled')
    await expect(report()).rejects.toThrow('ENOENT')
    expect(opened.left()).toEqual([])
  })

  test('So does a cancel after the time limit', async () => {
    await using opened = await open(new Map([[NAME, 60_000]]), { seconds: '30; echo late' })
    const cancel = new AbortController()
    const started = Date.now()
    setTimeout(() => cancel.abort(), 1_500)
    const { outcome } = await see(opened.runner, { ...opened.command, timeoutMs: 500 }, cancel.signal)
    expect(outcome.kind).toBe('timed-out')
    expect(Date.now() - started).toBeLessThan(15_000)
    expect(opened.left()).toEqual([])
  })
})
