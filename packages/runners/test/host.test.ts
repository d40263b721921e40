import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jest } from '@jest/globals'
import { createHostRunners, type HostRunnersOptions } from '../src/index.ts'
import { PARTS, runnerConformance, type RunnerSubject } from './conformance.ts'
import { TEST_MS } from './processes.ts'

jest.setTimeout(TEST_MS)

async function host(options: HostRunnersOptions): Promise<RunnerSubject> {
  const root = await mkdtemp(join(tmpdir(), 'scanfarm-host-'))
  const provider = createHostRunners(options)
  return {
    provider,
    spec: { type: 'host' },
    root,
    ambient: [],
    tellsSignals: true,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true })
    },
  }
}

runnerConformance('host', () => host({ spawner: 'perl' }))
runnerConformance('host, started by Node,', () => host({ spawner: 'node' }), [
  PARTS.whatItTells,
  PARTS.whatItIsGiven,
])
runnerConformance('host, without the resident process,', () => host({ spawner: false }))
