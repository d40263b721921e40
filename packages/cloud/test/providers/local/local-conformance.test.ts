// exclusive: docker
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll } from '@jest/globals'
import { useEngine, type TestEngine } from '@scanfarm/runners/testing'
import type { CallLimits } from '../../../src/providers/calls.ts'
import { createLocalProvider } from '../../../src/providers/local/index.ts'
import { FARM, OTHER_FARM, providerConformance, type World } from '../conformance.ts'
import { openEngineProxy } from './engine-proxy.ts'
import { LocalHarness } from './harness.ts'

// The engine is real; a proxy injects the faults. Engines do not throttle and have neither quota nor capacity limits.

const exec = promisify(execFile)
const WARM_UP = `farm-${crypto.randomUUID()}`
/** The engine responds after it has created or removed a container, which takes longer than with other providers. */
const SLOWER = 4

let engine: TestEngine
let image: string
beforeAll(async () => {
  engine = await useEngine()
  await using harness = await LocalHarness.open(WARM_UP)
  await using provider = await createLocalProvider({ dockerSocket: engine.address, image: undefined })
  const { id } = await provider.create(harness.request('warm-up'), AbortSignal.timeout(60_000))
  image = await docker('inspect', '--format', '{{.Image}}', id)
  await provider.destroy(id, AbortSignal.timeout(60_000))
}, 300_000)
afterAll(async () => {
  await engine?.[Symbol.asyncDispose]()
})

const docker = async (...args: string[]): Promise<string> =>
  (await exec('docker', ['--host', engine.address, ...args])).stdout.trim()

/** Not those of others on the engine. */
const containers = async (): Promise<{ readonly id: string; readonly name: string }[]> => {
  const format = '{{.ID}} {{.Label "scanfarm.name"}}'
  const said = await Promise.all(
    [FARM, OTHER_FARM].map((farm) =>
      docker('ps', '--all', '--no-trunc', '--filter', `label=scanfarm.farm=${farm}`, '--format', format),
    ),
  )
  const lines = said.join('\n').split('\n').filter(Boolean)
  return lines.map((line) => ({ id: line.split(' ')[0] ?? '', name: line.split(' ')[1] ?? '' }))
}

async function openWorld({ timeoutMs = 0, ...limits }: CallLimits): Promise<World> {
  const road = await openEngineProxy(engine.address)
  const provider = await createLocalProvider(
    { dockerSocket: road.address, image },
    { ...limits, timeoutMs: timeoutMs * SLOWER },
  )
  return {
    provider,
    fault: road.fault,
    creates: road.creates,
    there: async () => (await containers()).map(({ name }) => name),
    async createRequest(name) {
      const { id = '' } = (await containers()).find((each) => each.name === name) ?? {}
      const command = ['exec', id, 'cat', '/var/lib/cloud/instance/user-data.txt']
      const { stdout } = await exec('docker', ['--host', engine.address, ...command])
      return { userData: stdout }
    },
    async plant(count, farm) {
      for (let number = 1; number <= count; number++) {
        const facts = { farm, name: `planted-${farm}-${number}`, infra: 'planted', expires: '1900000000' }
        const labels = Object.entries(facts).flatMap(([key, value]) => [
          '--label',
          `scanfarm.${key}=${value}`,
        ])
        await docker('create', '--network', 'none', ...labels, image, 'true')
      }
    },
    violations: () => [],
    async [Symbol.asyncDispose]() {
      const ids = (await containers()).map(({ id }) => id)
      if (ids.length > 0) await docker('rm', '--force', '--volumes', ...ids)
      await provider[Symbol.asyncDispose]()
      await road[Symbol.asyncDispose]()
    },
  }
}

providerConformance('the local provider', openWorld, {
  region: 'local',
  type: 'small',
  price: 0,
  pages: 3,
  spot: 'offered',
  words: { quota: '', capacity: '' },
  cannot: ['throttled', 'quota', 'capacity'],
})
