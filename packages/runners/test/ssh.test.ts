import { afterAll, beforeAll, jest } from '@jest/globals'
import { createSshRunners } from '../src/index.ts'
import { runnerConformance, type RunnerSubject } from './conformance.ts'
import { startSshServer, type TestSshServer } from './ssh-server.ts'
import { TEST_MS } from './processes.ts'

jest.setTimeout(TEST_MS)

let server: TestSshServer
beforeAll(async () => {
  server = await startSshServer()
})
afterAll(async () => {
  await server?.[Symbol.asyncDispose]()
})

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
    tellsSignals: false,
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  }
}

runnerConformance('ssh', ssh)
