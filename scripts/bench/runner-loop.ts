/**
 * Runs the same command repeatedly through the host runner and prints the number per second.
 *
 *   runner-loop.ts COMMANDS WIDTH BALLAST_MIB
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHostRunners } from '@scanfarm/runners'

const MIB = 1024 * 1024
const [commands = 0, width = 1, ballastMib = 0] = process.argv.slice(2).map(Number)
const ballast = Buffer.alloc(ballastMib * MIB, 1)
const folder = await mkdtemp(join(tmpdir(), 'scanfarm-bench-'))
const runners = createHostRunners()
const { signal } = new AbortController()
const context = { runUuid: 'bench', attempt: 1, folder, marker: 'bench', signal, log: () => undefined }
const runner = await runners.open({ type: 'host' }, context)

const runOne = async (): Promise<void> => {
  const outcome = await runner.run(
    { argv: ['/bin/sh', '-c', 'true'], env: { PATH: '/usr/bin:/bin' } },
    { signal },
  )
  if (outcome.kind !== 'exited') throw new Error(`a command ended as ${outcome.kind}, expected exited`)
}

let started = 0
const runCommands = async (): Promise<void> => {
  while (started++ < commands) await runOne()
}

await runOne()
const began = performance.now()
await Promise.all(Array.from({ length: width }, runCommands))
console.log((commands / (performance.now() - began)) * 1_000)
await runner[Symbol.asyncDispose]()
await runners[Symbol.asyncDispose]()
await rm(folder, { recursive: true, force: true })
if (ballast.length !== ballastMib * MIB) process.exitCode = 1
