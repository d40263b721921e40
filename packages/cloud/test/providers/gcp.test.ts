import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inspect } from 'node:util'
import { createGcpProvider } from '../../src/providers/gcp/index.ts'
import type { GcpSettings } from '../../src/providers/settings.ts'
import type { CallLimits } from '../../src/providers/calls.ts'
import { CALL_LIMITS, FARM, machineRequest, providerConformance, signal, type World } from './conformance.ts'
import { gcpCloud, PROJECT, TOKEN, WORDS, type GcpCloud } from './fake-gcp.ts'
import { openFakeApi, type FakeApi } from './fake-api.ts'
import { openTokenServer, type TokenServer } from './token-server.ts'

const REQUEST = machineRequest('us-central1-a', 'e2-medium', {
  labels: { farm: FARM, infra: '0123456789abcdef', expires: Math.round(Date.now() / 1_000) + 7_200 },
})

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-gcp-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

type GcpWorld = World & FakeApi & { readonly cloud: GcpCloud; readonly tokens: TokenServer }

/** Authenticated as a workload of another cloud, whose token is exchanged for one of Google's. */
async function openWorld(
  over: Partial<GcpSettings> = {},
  limits: CallLimits = CALL_LIMITS,
): Promise<GcpWorld> {
  const tokens = await openTokenServer(TOKEN)
  const cloud = gcpCloud()
  const standIn = await openFakeApi(cloud)
  const credentialsFile = join(folder, `${new URL(tokens.url).port}.json`)
  await writeFile(join(folder, 'subject'), 'the-token-of-the-workload')
  await writeFile(
    credentialsFile,
    JSON.stringify({
      type: 'external_account',
      audience: '//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/pool/providers/farm',
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      token_url: `${tokens.url}/v1/token`,
      credential_source: { file: join(folder, 'subject') },
    }),
  )
  const provider = createGcpProvider(
    {
      credentialsFile,
      project: PROJECT,
      zone: 'us-central1-a',
      zones: ['europe-west1-b'],
      type: undefined,
      image: undefined,
      network: undefined,
      endpoint: standIn.url,
      privateAddress: false,
      prices: {},
      ...over,
    },
    limits,
  )
  return {
    ...standIn,
    cloud,
    tokens,
    provider,
    there: () => cloud.there(),
    createRequest: (name) => cloud.createRequest(name),
    plant: (count, farm) => cloud.plant(count, farm),
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]()
      await standIn[Symbol.asyncDispose]()
      await tokens[Symbol.asyncDispose]()
    },
  }
}

providerConformance('gcp', (limits) => openWorld({}, limits), {
  region: 'us-central1-a',
  type: 'e2-medium',
  price: 0.03351,
  pages: 25,
  spot: 'offered',
  words: WORDS,
})

describe('gcp', () => {
  test('exchanges the workload token once', async () => {
    await using world = await openWorld()
    await world.provider.list(FARM, signal())
    await world.provider.list(FARM, signal())
    expect(world.tokens.asked).toHaveLength(1)
    expect(Object.fromEntries(world.tokens.asked[0] ?? [])).toMatchObject({
      subject_token: 'the-token-of-the-workload',
      scope: 'https://www.googleapis.com/auth/compute',
    })
  })

  test('names the refused credentials and tries again at the next call', async () => {
    await using world = await openWorld()
    world.tokens.refuse()
    for (const _ of [1, 2])
      await expect(world.provider.check(signal())).rejects.toMatchObject({
        problem: 'credentials',
        message: expect.stringContaining('invalid_grant'),
      })
    await using missing = await openWorld({ credentialsFile: join(folder, 'missing.json') })
    await expect(missing.provider.check(signal())).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('missing.json'),
    })
  })

  test('waits for the operation and reports its quota and capacity errors', async () => {
    await using world = await openWorld()
    world.cloud.failNext('QUOTA_EXCEEDED', WORDS.quota, 403)
    await expect(world.provider.create(REQUEST, signal())).rejects.toMatchObject({
      problem: 'refused',
      message: `QUOTA_EXCEEDED: ${WORDS.quota}`,
    })
    world.cloud.failNext('ZONE_RESOURCE_POOL_EXHAUSTED', WORDS.capacity, 503)
    await expect(world.provider.create({ ...REQUEST, name: 'other' }, signal())).rejects.toMatchObject({
      problem: 'capacity',
      message: expect.stringContaining(WORDS.capacity),
    })
    expect(world.cloud.there()).toEqual([])
    expect(world.violations()).toEqual([])
  })

  test('creates one machine for two calls with one name', async () => {
    await using world = await openWorld()
    const first = await world.provider.create(REQUEST, signal())
    const second = await world.provider.create(REQUEST, signal())
    expect(second.id).toBe(first.id)
    // Of another farm: another request, and the name is taken.
    const other = { ...REQUEST, labels: { ...REQUEST.labels, farm: 'other' } }
    await expect(world.provider.create(other, signal())).rejects.toMatchObject({ problem: 'refused' })
    expect(world.cloud.there()).toEqual([REQUEST.name])
  })

  test('sets a maximum run duration and blocks the keys of the project', async () => {
    await using world = await openWorld({ network: 'farm', image: 'projects/p/global/images/ours' })
    await world.provider.create({ ...REQUEST, spot: true }, signal())
    const inserted = world.cloud.insertedOf(REQUEST.name)
    expect(inserted?.scheduling).toMatchObject({
      provisioningModel: 'SPOT',
      instanceTerminationAction: 'DELETE',
      automaticRestart: false,
    })
    const { seconds } = Object(inserted?.scheduling?.maxRunDuration)
    expect(Number(seconds)).toBeGreaterThan(7_200)
    expect(Number(seconds)).toBeLessThan(7_900)
    expect(inserted?.metadata?.items).toEqual(
      expect.arrayContaining([
        { key: 'ssh-keys', value: `scanfarm:${REQUEST.publicKey}` },
        { key: 'block-project-ssh-keys', value: 'TRUE' },
      ]),
    )
    expect(inserted?.networkInterfaces).toMatchObject([{ network: 'global/networks/farm' }])
    expect(inserted?.disks).toMatchObject([
      { initializeParams: { sourceImage: 'projects/p/global/images/ours', labels: inserted?.labels } },
    ])
    expect(world.violations()).toEqual([])
  })

  test('creates machines without a public address if configured', async () => {
    await using world = await openWorld({
      privateAddress: true,
      network: 'regions/us-central1/subnetworks/farm',
    })
    const { id } = await world.provider.create(REQUEST, signal())
    expect(world.cloud.insertedOf(REQUEST.name)?.networkInterfaces).toEqual([
      { subnetwork: 'regions/us-central1/subnetworks/farm' },
    ])
    expect((await world.provider.describe(id, signal()))?.address).toMatch(/^10\./)
  })

  test('chooses the zone of a region from the settings', async () => {
    await using world = await openWorld()
    const { id } = await world.provider.create({ ...REQUEST, region: 'europe-west1' }, signal())
    expect(id).toBe(`europe-west1-b/${REQUEST.name}`)
    await expect(world.provider.create({ ...REQUEST, region: 'asia-east1' }, signal())).rejects.toMatchObject(
      { problem: 'refused', message: expect.stringContaining('asia-east1') },
    )
  })

  test('reports the error of the cloud for an unknown type', async () => {
    await using world = await openWorld()
    await expect(world.provider.create({ ...REQUEST, type: 'no-such-type' }, signal())).rejects.toMatchObject(
      {
        problem: 'refused',
        message: expect.stringContaining("Machine type with name 'no-such-type' does not exist"),
      },
    )
  })

  test('keeps the token out of error messages', async () => {
    await using world = await openWorld()
    for (const kind of ['cut', 'quota', 'denied'] as const) {
      world.fault('create', { kind })
      const error: unknown = await world.provider.create(REQUEST, signal()).catch((caught: unknown) => caught)
      expect(error).toMatchObject({ name: 'CloudError' })
      expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(TOKEN)
    }
  })

  test('overestimates the prices of other regions', async () => {
    await using world = await openWorld()
    const price = (region: string, type: string) =>
      world.provider.price({ region, type, spot: false }, signal())
    expect(await price('europe-west1-b', 'e2-medium')).toBeCloseTo(0.0385365, 6)
    expect(await price('mars-north1-a', 'e2-medium')).toBeUndefined()
  })
})
