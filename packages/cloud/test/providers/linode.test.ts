import { describe, expect, test } from '@jest/globals'
import { createLinodeProvider } from '../../src/providers/linode.ts'
import { machineRequest, providerConformance, signal } from './conformance.ts'
import {
  CAPACITY,
  openLinode,
  PRICE,
  QUOTA,
  REGION,
  REGION_WITHOUT_METADATA,
  TOKEN,
  TYPE,
} from './fake-linode.ts'
import { restProviderConformance, restProviders, started } from './rest-conformance.ts'

// Enforced by: the provider's own `@linode/validation` for what is ordered, and linode-description.ts, written after its public
// documentation, for paths, parameters, filters and answers.

const { open, make } = restProviders(createLinodeProvider, openLinode, {
  token: TOKEN,
  region: undefined,
  type: undefined,
  image: undefined,
  endpoint: undefined,
  prices: {},
})
const request = machineRequest(REGION, TYPE)

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
  make,
  token: TOKEN,
  request,
  version: '/v4',
  badImage: 'image is not valid (image)',
  limited: { errors: [{ reason: 'Too many requests' }] },
  addresses: { public: '203.0.113.9', onlyIpv6: { ipv4: ['192.168.143.9'] }, ipv6: '2001:db8::9' },
  invalid: { name: 'ab' },
  whyInvalid: 'label',
  duplicate: 'Label must be unique',
})

describe('linode', () => {
  test('creates a machine with our key, without backups, with a random root password', async () => {
    await using world = await open()
    await world.provider.create(request, signal())
    await world.provider.create({ ...request, name: 'another' }, signal())
    const { order } = world.createRequest(request.name)
    expect(order).toMatchObject({
      authorized_keys: [request.publicKey],
      tags: [
        'scanfarm-farm:f0e1d2c3b4a59687',
        'scanfarm-infra:0123456789abcdef',
        'scanfarm-expires:1900000000',
      ],
      backups_enabled: false,
      booted: true,
    })
    expect(Object(order).root_pass).not.toBe(Object(world.createRequest('another').order).root_pass)
    expect(world.violations()).toEqual([])
  })

  test('reports a new machine that is off as starting and an old one as stopping', async () => {
    await using world = await open()
    const { id } = await started(world, request)
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

  test('refuses a region without the metadata service before it creates a machine', async () => {
    await using world = await open()
    await expect(
      world.provider.create({ ...request, region: REGION_WITHOUT_METADATA }, signal()),
    ).rejects.toMatchObject({ problem: 'refused', message: expect.stringContaining('metadata') })
    expect(world.creates()).toBe(0)
  })
})
