import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { CloudInfra } from '@scanfarm/contracts'
import { runProgram } from '../src/index.ts'
import { captureTerminal } from './captured-terminal.ts'
import { TestCluster, until } from './cluster/test-cluster.ts'

const TOKEN = 'a-token-for-the-tests-of-cloud-commands'
const START_MS = 300_000
const SIZE = { slug: 's-2vcpu-4gb', price_hourly: 0.5 }
const FULL = {
  id: 'unprocessable_entity',
  message: 'creating this/these droplet(s) will exceed your droplet limit',
}

/** Delay of the provider's create calls. */
let making = Promise.resolve()
let folder = ''
let provider: Server
let cluster: TestCluster
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'scanfarm-cli-'))
  // A DigitalOcean account with an exceeded droplet limit.
  provider = createServer((request, response) => {
    const refused = request.method === 'POST'
    const answer = refused ? FULL : { droplets: [], sizes: [SIZE], links: {}, meta: { total: 1 } }
    const send = (): void => {
      response.writeHead(refused ? 422 : 200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(answer))
    }
    if (refused) void making.then(send)
    else send()
  }).listen(0, '127.0.0.1')
  await once(provider, 'listening')
  const address = provider.address()
  cluster = await TestCluster.start({
    queue: 'postgres',
    workers: 0,
    env: {
      SCANFARM_AUTH_INITIAL_TOKEN: TOKEN,
      SCANFARM_CLOUD_ENABLED: 'yes',
      SCANFARM_CLOUD_CREDENTIALS: 'digitalocean=dop_v1_test',
      SCANFARM_CLOUD_ENDPOINTS: `digitalocean=http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    },
  })
}, START_MS)
afterAll(async () => {
  await cluster[Symbol.asyncDispose]()
  provider.close()
  provider.closeAllConnections()
  rmSync(folder, { recursive: true })
}, START_MS)

const terminalOfCluster = () =>
  captureTerminal({ SCANFARM_DATA_DIR: folder, SCANFARM_URL: cluster.client.url, SCANFARM_TOKEN: TOKEN })

const run = async (...args: string[]) => {
  const terminal = terminalOfCluster()
  const code = await runProgram(args, terminal)
  return { code, out: terminal.stdout(), err: terminal.stderr() }
}

test('cloud providers and cloud estimate create no machines', async () => {
  const providers = await run('cloud', 'providers')
  expect(providers.out).toMatch(/^digitalocean +yes +valid/m)
  expect(providers.out).toMatch(/^linode +not_configured +the settings do not configure linode/m)
  const estimate = await run('cloud', 'estimate', '--instances', '3', '--hours', '2')
  expect(estimate.out).toMatch(/^estimated_cost +3$/m)
  expect((await run('cloud', 'list')).out).toMatch(/^ID +STATUS +PROVIDER/)
})

test('cloud create --wait fails with the message of the provider when no machine becomes ready', async () => {
  const { code, out, err } = await run('cloud', 'create', '--instances', '2', '--wait')
  expect(code).toBe(1)
  expect(err).toMatch('will exceed your droplet limit')
  const id = /^infra_id +(\S+)$/m.exec(out)?.[1] ?? ''
  expect(out).toMatch(new RegExp(`^scanfarm-${id}-1 +failed`, 'm'))
  expect((await run('cloud', 'list', '--status', 'failed')).out).toMatch(
    new RegExp(`^${id} +failed +digitalocean`, 'm'),
  )
  const shown = JSON.parse((await run('cloud', 'show', id, '--json')).out) as CloudInfra
  expect(shown).toMatchObject({ infra_id: id, status: 'failed', total_count: 2, ready_count: 0 })
  const destroyed = await run('cloud', 'destroy', id, '--wait')
  expect(destroyed.code).toBe(0)
  expect((await run('cloud', 'show', 'nope')).code).toBe(5)
})

test('run --mode cloud --wait shows the machines and fails when they fail', async () => {
  const options = [
    '--mode',
    'cloud',
    '--cloud-provider',
    'digitalocean',
    '--instances',
    '1',
    '--auto-destroy',
  ]
  const { promise, resolve: answer } = Promise.withResolvers<void>()
  making = promise
  const terminal = terminalOfCluster()
  const command = runProgram(['run', '-m', 'noop', '-t', 'a.example', ...options, '--wait'], terminal)
  const machines = /0\/1 {2}1 pending {2}1 machine (requested|provisioning): 1 requested/
  await until('the machines are shown', () => machines.test(terminal.stderr())).finally(answer)
  expect(await command).toBe(1)
  expect(terminal.stderr()).toMatch('1 of 1 run did not complete')
  const refused = await run('run', '-m', 'noop', '-t', 'a.example', '--instances', '1')
  expect(refused.code).toBe(5)
  expect(refused.err).toMatch('cloud_instances: requires run_mode cloud')
})
