// exclusive: docker
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, beforeEach, expect, jest, test } from '@jest/globals'
import { createRunners, type Runners } from '@scanfarm/runners'
import { TEST_IMAGE, useEngine, type TestEngine } from '@scanfarm/runners/testing'
import { until } from '@scanfarm/testing'
import { openHarness, type Harness } from '../harness/executors.ts'
import { TEST_MS, bash, freshName, waitFor } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

const NETWORK = `scanfarm-${freshName()}`
const RATE = 10
const REQUESTS = 12

let engine: TestEngine
let runners: Runners
let harness: Harness
let gateway = ''
/** Whom requests came from, and when. */
let asked: { readonly from: string | undefined; readonly at: number }[] = []
const server = createServer(({ socket }, response) => {
  asked.push({ from: socket.remoteAddress, at: performance.now() })
  response.end('target')
})

const docker = async (...args: string[]): Promise<string> =>
  (await promisify(execFile)('docker', ['--host', engine.address, ...args])).stdout.trim()

beforeAll(async () => {
  engine = await useEngine()
  await docker('network', 'create', NETWORK)
  gateway = await docker('network', 'inspect', NETWORK, '--format', '{{(index .IPAM.Config 0).Gateway}}')
  await once(server.listen(0, '0.0.0.0'), 'listening')
  runners = createRunners({ docker: { engine: engine.address, owner: NETWORK } })
  harness = await openHarness()
})
beforeEach(() => {
  asked = []
})
afterAll(async () => {
  await harness?.[Symbol.asyncDispose]()
  await runners?.[Symbol.asyncDispose]()
  server.close().closeAllConnections()
  await docker('network', 'rm', NETWORK)
  await engine?.[Symbol.asyncDispose]()
})

const inContainer = (persistent: boolean, network: string, steps: readonly ReturnType<typeof bash>[]) => ({
  kind: 'module' as const,
  runner: 'docker' as const,
  runner_config: { image: TEST_IMAGE, persistent, network },
  steps: [...steps],
})

test.each([true, false])(
  'Requests of containers go through the proxy of their run, which checks and delays them (persistent: %s)',
  async (persistent) => {
    const { port } = server.address() as AddressInfo
    await using _executor = harness.executor({ runners })
    await harness.store.limits.set({ per_address: { rate: RATE } })
    try {
      const steps = [
        bash('env', 'echo $http_proxy $SCANFARM_PROXY $SCANFARM_ARGS_FFUF'),
        bash('ask', `for n in $(seq ${REQUESTS}); do wget -q -O - http://${gateway}:${port}/ & done; wait`),
        bash('past', `wget -O - http://198.51.100.7/ 2>&1; wget -O - http://127.0.0.1:${port}/ 2>&1`, {
          on_error: [{ action: 'continue' }],
        }),
      ]
      const job = { scopeNo: await harness.scopeNo({ allowed: [gateway, '127.0.0.1'] }) }
      const [runId = 0] = await harness.submit(inContainer(persistent, NETWORK, steps), {
        targets: [gateway],
        job,
      })
      expect(await harness.ended(runId)).toMatchObject({ status: 'completed', outcome: 'partial' })
      const [env, ask, past] = await harness.steps(runId)
      const url = `http://${gateway}:\\d+`
      expect(env?.output).toMatch(new RegExp(`^(${url}) \\1 -t 1 -p \\S+ -x \\1\n$`))
      expect(ask).toMatchObject({ status: 'completed', output: 'target'.repeat(REQUESTS) })
      // The machine of the farm asked, not the container. Node does not list bridges whose containers have ended.
      const { stdout } = await promisify(execFile)('ip', ['-4', '-oneline', 'address'])
      const own = Array.from(stdout.matchAll(/ inet ([\d.]+)/g), ([, address]) => address)
      expect(asked.filter(({ from }) => !own.includes(from))).toEqual([])
      const times = asked.map(({ at }) => at)
      // A busy machine may see the first one late.
      expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(((REQUESTS - 1) / RATE) * 500)
      expect(past?.output.match(/403 Forbidden/g)).toHaveLength(2)
      const refused = await harness.refusals(runId)
      expect(refused.map(({ target }) => target).toSorted()).toEqual([`127.0.0.1:${port}`, '198.51.100.7'])
    } finally {
      await harness.store.limits.set({})
    }
  },
)

test('The proxy of a container refuses other containers, and a network without this machine has none', async () => {
  const { port } = server.address() as AddressInfo
  await using _executor = harness.executor({ runners })
  const job = { scopeNo: await harness.scopeNo({ allowed: [gateway] }) }
  const target = { targets: [gateway], job }
  const steps = [bash('wait', `echo $http_proxy > {{Output}}/proxy; ${waitFor('{{Output}}/go')}`)]
  const [runId = 0] = await harness.submit(inContainer(true, NETWORK, steps), target)
  const proxy = await until(async () => {
    const file = join(harness.folder, 'work/workspaces', gateway, 'proxy')
    return (await readFile(file, 'utf8').catch(() => '')).trim() || undefined
  })
  const ask = `http_proxy=${proxy} wget -O - http://${gateway}:${port}/ 2>&1 || true`
  expect(await docker('run', '--rm', '--network', NETWORK, TEST_IMAGE, 'sh', '-c', ask)).toContain('403')
  await harness.makeFile(gateway, 'go')
  expect(await harness.ended(runId)).toMatchObject({ status: 'completed' })
  expect(asked).toEqual([])
  const [alone = 0] = await harness.submit(
    inContainer(true, 'none', [bash('env', 'echo ${http_proxy-none}')]),
    target,
  )
  expect(await harness.ended(alone)).toMatchObject({ outcome: 'clean' })
  expect((await harness.steps(alone))[0]?.output).toBe('none\n')
  expect((await harness.run(alone)).facts).toMatchObject({
    proxy: 'none, requests are neither checked nor limited: commands of this docker runner cannot reach it',
  })
})
