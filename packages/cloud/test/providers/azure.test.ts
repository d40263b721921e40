import { beforeAll, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { inspect } from 'node:util'
import { createAzureProvider } from '../../src/providers/azure/index.ts'
import type { AzureSettings } from '../../src/providers/settings.ts'
import { azureCloud, GROUP, SUBSCRIPTION, TOKEN, WORDS, type AzureCloud } from './fake-azure.ts'
import type { CallLimits } from '../../src/providers/calls.ts'
import { CALL_LIMITS, FARM, machineRequest, providerConformance, signal, type World } from './conformance.ts'
import { openFakeApi, type FakeApi } from './fake-api.ts'
import { openTlsFront, trustedCertificate } from './tls-front.ts'
import { openTokenServer, type TokenServer } from './token-server.ts'

const SECRET = 'the-secret-of-the-client'
const REQUEST = machineRequest('westeurope', 'Standard_B2s')

const certificate = forAllTests(trustedCertificate)
beforeAll(async () => {
  // The libraries take seconds to load on a busy machine, which is no matter of the tests below.
  await using world = await openWorld()
  await world.provider.check(AbortSignal.timeout(50_000))
})

type AzureWorld = World & FakeApi & { readonly cloud: AzureCloud; readonly tokens: TokenServer }

async function openWorld(
  over: Partial<AzureSettings> = {},
  limits: CallLimits = CALL_LIMITS,
): Promise<AzureWorld> {
  const tokens = await openTokenServer(TOKEN)
  const cloud = azureCloud()
  const standIn = await openFakeApi(cloud)
  const fronts = [await openTlsFront(tokens.url, certificate), await openTlsFront(standIn.url, certificate)]
  const provider = createAzureProvider(
    {
      tenant: '99999999-8888-7777-6666-555555555555',
      client: '22222222-3333-4444-5555-666666666666',
      secret: SECRET,
      subscription: SUBSCRIPTION,
      resourceGroup: GROUP,
      region: undefined,
      type: undefined,
      image: undefined,
      subnet: 'farm-network/machines',
      endpoint: fronts[1]?.url,
      authority: fronts[0]?.url,
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
      for (const front of fronts) await front[Symbol.asyncDispose]()
      await standIn[Symbol.asyncDispose]()
      await tokens[Symbol.asyncDispose]()
    },
  }
}

providerConformance('azure', (limits) => openWorld({}, limits), {
  region: 'westeurope',
  type: 'Standard_B2s',
  price: 0.052,
  pages: 25,
  spot: 'offered',
  words: WORDS,
})

describe('azure', () => {
  test('creates and tags machine, card and address in one call and deletes them together', async () => {
    await using world = await openWorld()
    const { id } = await world.provider.create(REQUEST, signal())
    const sent = world.cloud.sentFor(REQUEST.name)
    const tags = {
      'scanfarm-name': REQUEST.name,
      'scanfarm-farm': FARM,
      'scanfarm-infra': '0123456789abcdef',
      'scanfarm-expires': '1900000000',
    }
    expect(sent?.tags).toEqual(tags)
    const [card] = sent?.properties.networkProfile.networkInterfaceConfigurations ?? []
    expect(card).toMatchObject({ tags, properties: { deleteOption: 'Delete' } })
    expect(card?.properties?.ipConfigurations?.[0]?.properties).toMatchObject({
      subnet: {
        id: `/subscriptions/${SUBSCRIPTION}/resourceGroups/${GROUP}/providers/Microsoft.Network/virtualNetworks/farm-network/subnets/machines`,
      },
      publicIPAddressConfiguration: { tags, properties: { deleteOption: 'Delete' } },
    })
    expect(world.creates()).toBe(1)
    expect(world.cloud.parts()).toHaveLength(2)
    await world.provider.destroy(id, signal())
    while (await world.provider.describe(id, signal()));
    expect(world.cloud.parts()).toEqual([])
  })

  test('lists a card and an address without a machine as a stopping machine, and destroys them', async () => {
    await using world = await openWorld()
    const { id } = await world.provider.create(REQUEST, signal())
    world.cloud.loseMachine(REQUEST.name)
    const left = { id, name: REQUEST.name, state: 'stopping', labels: REQUEST.labels }
    expect(await world.provider.list(FARM, signal())).toMatchObject([left])
    expect(await world.provider.describe(id, signal())).toMatchObject(left)
    await world.provider.destroy(id, signal())
    expect(world.cloud.parts()).toEqual([])
    expect(await world.provider.list(FARM, signal())).toEqual([])
    expect(await world.provider.describe(id, signal())).toBeUndefined()
    expect(world.violations()).toEqual([])
  })

  test('creates one machine for two calls with one name, and never returns a machine of another farm', async () => {
    await using world = await openWorld()
    const first = await world.provider.create(REQUEST, signal())
    const second = await world.provider.create({ ...REQUEST, userData: '#cloud-config\n# other\n' }, signal())
    expect(second.id).toBe(first.id)
    expect(world.cloud.createRequest(REQUEST.name).userData).toBe(REQUEST.userData)
    const other = { ...REQUEST, labels: { ...REQUEST.labels, farm: 'other' } }
    await expect(world.provider.create(other, signal())).rejects.toMatchObject({ problem: 'refused' })
    expect(world.cloud.there()).toEqual([REQUEST.name])
  })

  test('reports why an accepted machine does not come up', async () => {
    await using world = await openWorld()
    const { id } = await world.provider.create(REQUEST, signal())
    world.cloud.failMachine(REQUEST.name, 'Allocation failed. We do not have sufficient capacity.')
    expect(await world.provider.describe(id, signal())).toMatchObject({
      state: 'stopping',
      message: 'Allocation failed. We do not have sufficient capacity.',
    })
  })

  test('creates spot machines that are deleted when they are evicted', async () => {
    await using world = await openWorld()
    await world.provider.create({ ...REQUEST, spot: true }, signal())
    expect(world.cloud.sentFor(REQUEST.name)?.properties).toMatchObject({
      priority: 'Spot',
      evictionPolicy: 'Delete',
      billingProfile: { maxPrice: -1 },
    })
  })

  test('chooses the image by the processor unless the settings name one', async () => {
    const image = async (type: string, named?: string) => {
      await using world = await openWorld({ image: named })
      await world.provider.create({ ...REQUEST, type }, signal())
      return world.cloud.sentFor(REQUEST.name)?.properties.storageProfile.imageReference
    }
    expect(await image('Standard_D2s_v5')).toMatchObject({ sku: 'server', version: 'latest' })
    expect(await image('Standard_D2ps_v5')).toMatchObject({ sku: 'server-arm64' })
    expect(await image('Standard_B2s', 'Debian:debian-12:12-gen2:latest')).toEqual({
      publisher: 'Debian',
      offer: 'debian-12',
      sku: '12-gen2',
      version: 'latest',
    })
    expect(await image('Standard_B2s', '/subscriptions/x/images/ours')).toEqual({
      id: '/subscriptions/x/images/ours',
    })
  })

  test('creates machines without a public address if configured', async () => {
    await using world = await openWorld({ privateAddress: true })
    const { id } = await world.provider.create(REQUEST, signal())
    expect(world.cloud.parts()).toEqual([expect.stringMatching(/^networkInterfaces\//)])
    expect((await world.provider.describe(id, signal()))?.address).toMatch(/^10\./)
  })

  test('signs in once and names the refused credentials', async () => {
    await using world = await openWorld()
    await world.provider.list(FARM, signal())
    await world.provider.list(FARM, signal())
    expect(world.tokens.asked.length).toBeLessThanOrEqual(2)
    await using refused = await openWorld({ client: '33333333-3333-4444-5555-666666666666' })
    refused.tokens.refuse()
    await expect(refused.provider.check(signal())).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('The credentials are not known here'),
    })
  })

  test('distinguishes an unreachable authority from refused credentials', async () => {
    await using world = await openWorld({ authority: 'https://127.0.0.1:1' })
    await expect(world.provider.create(REQUEST, signal())).rejects.toMatchObject({
      problem: 'unavailable',
      message: expect.stringContaining('the authority of azure cannot be reached'),
    })
    await using cloud = await openWorld({ endpoint: 'https://127.0.0.1:1' })
    await expect(cloud.provider.create(REQUEST, signal())).rejects.toMatchObject({
      problem: 'unavailable',
      message: expect.stringContaining('ECONNREFUSED'),
    })
  })

  test('names a missing setting', async () => {
    const said = async (over: Partial<AzureSettings>) => {
      await using world = await openWorld(over)
      return await world.provider.check(signal()).catch((error: unknown) => error)
    }
    const credentials = (message: string) => expect.objectContaining({ problem: 'credentials', message })
    expect(await said({ secret: undefined })).toEqual(
      credentials('azure wants tenant, client and secret in the settings, or none of them'),
    )
    for (const name of ['subscription', 'resourceGroup', 'subnet'] as const)
      expect(await said({ [name]: undefined })).toEqual(credentials(`azure wants ${name} in the settings`))
  })

  test('keeps token and secret out of error messages', async () => {
    await using world = await openWorld()
    for (const kind of ['cut', 'quota', 'denied'] as const) {
      world.fault('create', { kind })
      const error: unknown = await world.provider.create(REQUEST, signal()).catch((caught: unknown) => caught)
      expect(error).toMatchObject({ name: 'CloudError' })
      const shown = inspect(error, { depth: 20, showHidden: true })
      expect(shown).not.toContain(TOKEN)
      expect(shown).not.toContain(SECRET)
    }
  })

  test('has no price for unknown regions', async () => {
    await using world = await openWorld()
    const price = (region: string, type: string) =>
      world.provider.price({ region, type, spot: false }, signal())
    expect(await price('eastus', 'Standard_B2s')).toBe(0.0416)
    expect(await price('marsnorth', 'Standard_B2s')).toBeUndefined()
  })
})
