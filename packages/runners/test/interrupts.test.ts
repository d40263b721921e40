import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import { createHostRunners } from '../src/index.ts'
import { cancelAfter, NEVER, PATH, see } from './conformance/harness.ts'
import { alive, TEST_MS, token } from './processes.ts'

jest.setTimeout(TEST_MS)

const GRACE_MS = 50
const REPORT = 'report.txt'

/** Writes its report on INT, after more than the usual time, and has a child that only it ends. */
const scanner = (word: string, seconds: string): string => `#!/bin/sh
trap 'sleep ${seconds}; echo complete >${REPORT}; exit 0' INT
echo go
while :; do sleep 0.02; : ${word}; done
`

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-interrupts-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const report = (): Promise<string> => readFile(join(folder, REPORT), 'utf8')

const open = async (word: string, interrupts: ReadonlyMap<string, number>, seconds = '0.2') => {
  const program = join(folder, 'scan-er')
  await writeFile(program, scanner(word, seconds))
  await chmod(program, 0o755)
  const provider = createHostRunners({ graceMs: GRACE_MS, interrupts })
  const runner = await provider.open(
    { type: 'host' },
    { runUuid: token(), attempt: 1, folder, marker: token(), signal: NEVER, log: () => {} },
  )
  const command = (text: string) => ({ argv: ['/bin/sh', '-c', text], env: { PATH }, cwd: folder })
  return { provider, runner, command: command(`${program} ${word} | cat`) }
}

test('At its time limit a program that reports only after INT gets INT, and the time to write its report', async () => {
  const word = token()
  const { provider, runner, command } = await open(word, new Map([['scan-er', 10_000]]))
  await using _ = provider
  const seen = await see(runner, { ...command, timeoutMs: 1_000 })
  expect(seen).toMatchObject({ outcome: { kind: 'timed-out' }, stdout: 'go\n' })
  expect(await report()).toBe('complete\n')
  expect(await alive(word)).toEqual([])
})

test('Another program gets TERM at its time limit', async () => {
  const word = token()
  const { provider, runner, command } = await open(word, new Map([['another', 10_000]]))
  await using _ = provider
  expect((await see(runner, { ...command, timeoutMs: 1_000 })).outcome.kind).toBe('timed-out')
  await expect(report()).rejects.toThrow('ENOENT')
})

test('A cancel grants the usual time only', async () => {
  const word = token()
  const { provider, runner, command } = await open(word, new Map([['scan-er', 60_000]]), '30')
  await using _ = provider
  expect((await cancelAfter(runner, command, 'go')).kind).toBe('cancelled')
  await expect(report()).rejects.toThrow('ENOENT')
  expect(await alive(word)).toEqual([])
})
