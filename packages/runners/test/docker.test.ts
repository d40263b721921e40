// exclusive: docker
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { jest } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { createDockerRunners, type DockerRunnersOptions } from '../src/index.ts'
import { PARTS, runnerConformance, type RunnerSubject } from './conformance.ts'
import { TEST_IMAGE, useEngine } from './docker-engine.ts'
import { TEST_MS } from './processes.ts'

jest.setTimeout(TEST_MS)

const engine = forAllTests(useEngine)

const AMBIENT = ['PATH', 'HOME', 'HOSTNAME', 'PWD', 'OLDPWD', 'SHLVL', 'IMAGE_VARIABLE']

async function docker(options: Partial<DockerRunnersOptions>, persistent = true): Promise<RunnerSubject> {
  const root = await mkdtemp(join(tmpdir(), 'scanfarm-docker-runs-'))
  const provider = createDockerRunners({ engine: engine.address, owner: 'conformance', ...options })
  return {
    provider,
    spec: { type: 'docker', image: TEST_IMAGE, persistent },
    root,
    ambient: AMBIENT,
    reportsSignals: false,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]()
      await rm(root, { recursive: true, force: true })
    },
  }
}

runnerConformance('docker', () => docker({}))
runnerConformance('docker, with an engine that does not see our files,', () => docker({ files: 'copy' }))
runnerConformance('docker, with a container for each command,', () => docker({}, false), [
  PARTS.passesInput,
  PARTS.stopsCommands,
])
