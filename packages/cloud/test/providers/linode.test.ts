import { describe, expect, test } from '@jest/globals'
import { createLinodeProvider, type LinodeSettings } from '../../src/providers/linode/index.ts'
import type { CallLimits } from '../../src/providers/calls.ts'
import { CALL_LIMITS, providerConformance, type World } from './conformance.ts'
import {
  CAPACITY,
  openLinode,
  PRICE,
  QUOTA,
  REGION,
  REGION_WITHOUT_METADATA,
  TOKEN,
  TYPE,
  type Linode,
} from './linode-cloud.ts'
import { restProviderConformance } from './rest-conformance.ts'

// Enforced by: the provider's own `@linode/validation` for what is ordered, and linode-description.ts, written after its public
// documentation, for paths, parameters, filters and answers.

const settings = (over: Partial<LinodeSettings> = {}): LinodeSettings => ({
  token: TOKEN,
  region: undefined,
  type: undefined,
  image: undefined,
  endpoint: undefined,
  prices: {},
  ...over,
})

async function open(
  over: Partial<LinodeSettings> = {},
  limits: CallLimits = CALL_LIMITS,
): Promise<Linode & World> {
  const cloud = await openLinode()
  const provider = createLinodeProvider(settings({ endpoint: cloud.url, ...over }), limits)
  return {
    ...cloud,
    provider,
    async [Symbol.asyncDispose]() {
      await provider[Symbol.asyncDispose]()
      await cloud[Symbol.asyncDispose]()
    },
  }
}

const signal = () => AbortSignal.timeout(60_000)
const request = {
  name: 'scanfarm-0123456789abcdef-1',
  labels: { farm: 'f0e1d2c3b4a5', infra: '0123456789abcdef', expires: 1_900_000_000 },
  region: REGION,
  type: TYPE,
  spot: false,
  userData: '#cloud-config\n',
  sshUser: 'scanfarm',
  publicKey: 'ssh-ed25519 AAAA farm',
}

providerConformance('linode', (limits) => open({}, limits), {
  region: REGION,
  type: TYPE,
  price: PRICE,
  pages: 501,
  spot: 'refused',
  words: { quota: QUOTA, capacity: CAPACITY },
})

restProviderConformance('linode', {
  open,
  make: (over) => createLinodeProvider(settings(over), CALL_LIMITS),
  token: TOKEN,
  request,
  version: '/v4',
  badImage: 'image is not valid (image)',
  limited: { errors: [{ reason: 'Too many requests' }] },
})

describe('linode', () => {
  const started = async (world: World) => {
    const { id } = await world.provider.create(request, signal())
    for (;;) {
      const machine = await world.provider.describe(id, signal())
      if (machine?.state === 'running') return machine
      expect(machine?.state).toBe('starting')
    }
  }

  test('orders what boots with our key, without backups, under a password that is never the same', async () => {
    await using world = await open()
    await world.provider.create(request, signal())
    await world.provider.create({ ...request, name: 'another' }, signal())
    const { order } = world.given(request.name)
    expect(order).toMatchObject({
      authorized_keys: [request.publicKey],
      tags: ['scanfarm-farm:f0e1d2c3b4a5', 'scanfarm-infra:0123456789abcdef', 'scanfarm-expires:1900000000'],
      backups_enabled: false,
      booted: true,
    })
    expect(Object(order).root_pass).not.toBe(Object(world.given('another').order).root_pass)
    expect(world.violations()).toEqual([])
  })

  test('takes the public address before the private one, and that of IPv6 for want of others', async () => {
    await using world = await open()
    const { id, address } = await started(world)
    expect(address).toBe('203.0.113.9')
    world.set(request.name, { ipv4: ['192.168.143.9'] })
    expect(await world.provider.describe(id, signal())).toMatchObject({ address: '2001:db8::9' })
  })

  test('takes a machine that is off for one that starts while it is young, and for a lost one later', async () => {
    await using world = await open()
    const { id } = await started(world)
    world.set(request.name, { status: 'offline' })
    expect(await world.provider.describe(id, signal())).toMatchObject({ state: 'starting' })
    world.set(request.name, { status: 'stopped' })
    expect(await world.provider.describe(id, signal())).toMatchObject({
      state: 'stopping',
      message: 'the Linode is stopped',
    })
    world.set(request.name, { status: 'offline', created: '2026-01-01T00:00:00' })
    expect(await world.provider.describe(id, signal())).toMatchObject({ state: 'stopping' })
  })

  test('refuses a region that hands no user data to its machines, before it makes one', async () => {
    await using world = await open()
    await expect(
      world.provider.create({ ...request, region: REGION_WITHOUT_METADATA }, signal()),
    ).rejects.toMatchObject({ problem: 'refused', message: expect.stringContaining('metadata') })
    expect(world.creates()).toBe(0)
  })

  test('takes a name that is taken for an unknown outcome: the machine may be there already', async () => {
    await using world = await open()
    await world.provider.create(request, signal())
    await expect(world.provider.create(request, signal())).rejects.toMatchObject({
      problem: 'unavailable',
      message: expect.stringContaining('Label must be unique'),
    })
    expect(world.there()).toEqual([request.name])
  })

  test('knows what a wrong order is without asking the provider', async () => {
    await using world = await open()
    await expect(world.provider.create({ ...request, name: 'ab' }, signal())).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringContaining('label'),
    })
    expect(world.creates()).toBe(0)
  })
})
