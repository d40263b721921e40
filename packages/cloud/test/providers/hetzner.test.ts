import { describe, expect, test } from '@jest/globals'
import { createHetznerProvider } from '../../src/providers/hetzner.ts'
import { machineRequest, providerConformance, signal } from './conformance.ts'
import { CAPACITY, openHetzner, PRICE, QUOTA, REGION, TOKEN, TYPE } from './fake-hetzner.ts'
import { restProviderConformance, restProviders, started } from './rest-conformance.ts'

// Enforced by: hetzner-description.ts, written after the provider's public documentation, for paths, parameters, orders and
// answers. Hetzner publishes no validators for JavaScript.

const { open, make } = restProviders(createHetznerProvider, openHetzner, {
  token: TOKEN,
  region: undefined,
  type: undefined,
  image: undefined,
  network: undefined,
  endpoint: undefined,
  privateAddress: false,
  prices: {},
})
const request = machineRequest(REGION, TYPE)

providerConformance('hetzner', (limits) => open({}, limits), {
  region: REGION,
  type: TYPE,
  price: PRICE,
  pages: 51,
  spot: 'refused',
  words: { quota: QUOTA, capacity: CAPACITY },
})

restProviderConformance('hetzner', {
  open,
  make,
  token: TOKEN,
  request,
  version: '/v1',
  badImage: 'image no-such-image not found (invalid_input)',
  limited: { error: { code: 'rate_limit_exceeded', message: 'limit of 3600 requests per hour reached' } },
  addresses: {
    public: '203.0.113.11',
    private: '10.0.0.3',
    onlyIpv6: { public_net: { ipv4: null, ipv6: { ip: '2001:db8:1::/64' } } },
    ipv6: '2001:db8:1::1',
  },
  invalid: { labels: { ...request.labels, infra: 'a,b' } },
  whyInvalid: 'a,b',
  duplicate: 'already used',
  busy: { status: 423, body: { error: { code: 'locked', message: 'server is locked' } } },
})

describe('hetzner', () => {
  test('creates a server that starts, with labels, in the configured network', async () => {
    await using world = await open({ network: '4711', privateAddress: true })
    await world.provider.create(request, signal())
    expect(world.createRequest(request.name).order).toMatchObject({
      labels: {
        'scanfarm-farm': 'f0e1d2c3b4a59687',
        'scanfarm-infra': '0123456789abcdef',
        'scanfarm-expires': '1900000000',
      },
      location: REGION,
      networks: [4711],
      public_net: { enable_ipv4: true, enable_ipv6: false },
      start_after_create: true,
    })
    expect(world.violations()).toEqual([])
  })

  test('reports a new server that is off as starting and an old one as stopping', async () => {
    await using world = await open()
    const { id } = await started(world, request)
    world.set(request.name, { status: 'off' })
    expect(await world.provider.describe(id, signal())).toMatchObject({ state: 'starting' })
    world.set(request.name, { created: '2026-01-01T00:00:00+00:00' })
    expect(await world.provider.describe(id, signal())).toMatchObject({
      state: 'stopping',
      message: 'the server is off',
    })
  })

  test('distinguishes a read-only token from an exceeded limit', async () => {
    await using world = await open()
    const body = {
      error: { code: 'token_readonly', message: 'token is only allowed to perform GET requests' },
    }
    world.answerNext('create', { status: 403, body })
    await expect(world.provider.create(request, signal())).rejects.toMatchObject({ problem: 'credentials' })
  })

  test('rejects responses that do not match the documentation', async () => {
    await using world = await open()
    world.answerNext('create', { status: 201, body: { server: { id: 'one' } } })
    await expect(world.provider.create(request, signal())).rejects.toMatchObject({
      problem: 'unavailable',
      message: expect.stringContaining('server'),
    })
  })

  test('refuses a network name in place of its id', async () => {
    await using world = await open({ network: 'scans' })
    await expect(world.provider.create(request, signal())).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringContaining('hetzner in cloud.networks'),
    })
    expect(world.creates()).toBe(0)
  })

  test('refuses a farm that is no valid label value', async () => {
    await using world = await open()
    await expect(world.provider.list('a,b', signal())).rejects.toMatchObject({ problem: 'refused' })
  })
})
