// long
import { jest } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { createSshRunners } from '../src/index.ts'
import { runnerConformance, type RunnerSubject } from './conformance.ts'
import { startSshServer } from './ssh-server.ts'
import { TEST_MS } from './processes.ts'

jest.setTimeout(TEST_MS)

const server = forAllTests(startSshServer)

const AMBIENT = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'MAIL',
  'PWD',
  'OLDPWD',
  'SSH_CLIENT',
  'SSH_CONNECTION',
]

async function ssh(): Promise<RunnerSubject> {
  const { port, user, keyFile, knownHosts, root } = server
  const provider = createSshRunners({ keyFile, knownHosts })
  return {
    provider,
    spec: { type: 'ssh', host: '127.0.0.1', port, user },
    root,
    ambient: AMBIENT,
    reportsSignals: false,
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  }
}

runnerConformance('ssh', ssh)
