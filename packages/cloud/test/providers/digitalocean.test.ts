import { describe, expect, test } from '@jest/globals'
import { createDigitalOceanProvider } from '../../src/providers/digitalocean.ts'
import { machineRequest, providerConformance, signal } from './conformance.ts'
import { CAPACITY, openDigitalOcean, PRICE, QUOTA, TOKEN, TYPE } from './fake-digitalocean.ts'
import { restProviderConformance, restProviders, started } from './rest-conformance.ts'

// Enforced by: digitalocean.openapi.json, the provider's own description. Every request (path, method, parameters, body) and
// every answer of the stand-in is held against it; messages of refusals are as the provider words them.

const { open, make } = restProviders(createDigitalOceanProvider, openDigitalOcean, {
  token: TOKEN,
  region: undefined,
  type: undefined,
  image: undefined,
  vpc: undefined,
  endpoint: undefined,
  privateAddress: false,
  prices: {},
})
const request = machineRequest('fra1', TYPE)

providerConformance('digitalocean', (limits) => open({}, limits), {
  region: 'fra1',
  type: TYPE,
  price: PRICE,
  pages: 201,
  spot: 'refused',
  words: { quota: QUOTA, capacity: CAPACITY },
})

restProviderConformance('digitalocean', {
  open,
  make,
  token: TOKEN,
  request,
  version: '/v2',
  badImage: 'invalid image',
  limited: { id: 'too_many_requests', message: 'API rate limit exceeded.' },
  addresses: {
    public: '203.0.113.7',
    private: '10.135.0.2',
    onlyIpv6: {
      networks: {
        v4: [],
        v6: [{ ip_address: '2001:db8::7', netmask: 64, gateway: '2001:db8::1', type: 'public' }],
      },
    },
    ipv6: '2001:db8::7',
  },
  invalid: { labels: { ...request.labels, infra: 'Ä' } },
  whyInvalid: 'is not a valid tag',
  busy: {
    status: 422,
    body: { id: 'unprocessable_entity', message: 'Droplet already has a pending event.' },
  },
})

describe('digitalocean', () => {
  test('creates droplets in the configured VPC, from an image given by slug or number', async () => {
    await using world = await open({ vpc: '760e09ef-dc84-11e8-981e-3cfdfeaae000', image: '7555620' })
    await world.provider.create(request, signal())
    expect(world.violations()).toEqual([])
    expect(world.createRequest(request.name).order).toMatchObject({
      vpc_uuid: '760e09ef-dc84-11e8-981e-3cfdfeaae000',
      image: 7_555_620,
      tags: [
        'scanfarm-farm:f0e1d2c3b4a59687',
        'scanfarm-infra:0123456789abcdef',
        'scanfarm-expires:1900000000',
      ],
    })
  })

  test('reports a droplet that is powered off as stopping', async () => {
    await using world = await open()
    const { id } = await started(world, request)
    world.set(request.name, { status: 'off' })
    expect(await world.provider.describe(id, signal())).toMatchObject({
      state: 'stopping',
      message: 'the droplet is off',
    })
  })

  test('fails the checks of the fake API when it sends fields that are not in the description', async () => {
    await using world = await open()
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ name: 'a_b', size: TYPE, image: 1.5, tag: [] })
    await fetch(`${world.url}/v2/droplets`, { method: 'POST', headers, body })
    await fetch(`${world.url}/v2/droplets?per_page=201&label=x`, { headers })
    await fetch(`${world.url}/v2/droplets/abc`, { headers })
    const found = world.violations().join('\n')
    for (const part of [
      'pattern',
      'there is no tag',
      'must be <= 200',
      'no parameter label',
      'must be integer',
    ])
      expect(found).toContain(part)
  })
})
