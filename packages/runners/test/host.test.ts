// long
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jest } from '@jest/globals'
import { createHostRunners, findSandbox, type HostRunnersOptions } from '../src/index.ts'
import { PARTS, runnerConformance, type RunnerSubject } from './conformance.ts'
import { PATH } from './conformance/harness.ts'
import { TEST_MS } from './processes.ts'

jest.setTimeout(TEST_MS)

const NOBODY = { uid: 65_534, gid: 65_534 }

async function host(options: HostRunnersOptions): Promise<RunnerSubject> {
  const root = await mkdtemp(join(tmpdir(), 'scanfarm-host-'))
  const provider = createHostRunners(options)
  return {
    provider,
    spec: { type: 'host' },
    root,
    ambient: [],
    reportsSignals: true,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true })
    },
  }
}

runnerConformance('host', () => host({ launcher: 'perl' }))
runnerConformance('host, started by Node,', () => host({ launcher: 'node' }), [
  PARTS.reportsResults,
  PARTS.passesInput,
])
// With the program of SCANFARM_TEST_BUBBLEWRAP.
runnerConformance('host, in a sandbox,', async () => {
  const sandbox = findSandbox(PATH, { hidden: [], visible: [], writable: [] })
  if ('problem' in sandbox) throw new Error(sandbox.problem)
  const subject = await host({ sandbox, user: process.getuid?.() === 0 ? NOBODY : undefined })
  await chmod(subject.root, 0o711)
  return { ...subject, ambient: ['PWD'], reportsSignals: false, hidesPids: true }
})
