import { describe, expect, test } from '@jest/globals'
import { createDigitalOceanProvider } from '../../src/providers/digitalocean.ts'
import { providerConformance } from './conformance.ts'
import { CAPACITY, openDigitalOcean, PRICE, QUOTA, TOKEN, TYPE } from './fake-digitalocean.ts'
import { restProviderConformance, restProviders, restRequest, signal, started } from './rest-conformance.ts'

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
const request = restRequest('fra1', TYPE)

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
})

describe('digitalocean', () => {
  test('creates droplets in the configured VPC, from an image given by slug or number', async () => {
    await using world = await open({ vpc: '760e09ef-dc84-11e8-981e-3cfdfeaae000', image: '7555620' })
    await world.provider.create(request, signal())
    expect(world.violations()).toEqual([])
    expect(world.createRequest(request.name).order).toMatchObject({
      vpc_uuid: '760e09ef-dc84-11e8-981e-3cfdfeaae000',
      image: 7_555_620,
      tags: ['scanfarm-farm:f0e1d2c3b4a5', 'scanfarm-infra:0123456789abcdef', 'scanfarm-expires:1900000000'],
    })
  })

  test('retries destroy while another action of the droplet is in progress', async () => {
    await using world = await open()
    const { id } = await world.provider.create(request, signal())
    const body = { id: 'unprocessable_entity', message: 'Droplet already has a pending event.' }
    world.answerNext('destroy', { status: 422, body })
    await world.provider.destroy(id, signal())
    expect(world.there()).toEqual([])
  })

  test('reports the public address, the private one if configured, and the IPv6 address if there is no other', async () => {
    await using world = await open()
    const { id, address } = await started(world, request)
    expect(address).toBe('203.0.113.7')
    const v6 = [{ ip_address: '2001:db8::7', netmask: 64, gateway: '2001:db8::1', type: 'public' }]
    world.set(request.name, { networks: { v4: [], v6 } })
    expect(await world.provider.describe(id, signal())).toMatchObject({ address: '2001:db8::7' })
    await using inside = await open({ privateAddress: true })
    expect(await started(inside, request)).toMatchObject({ address: '10.135.0.2' })
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

  test('refuses labels that are not valid tags without calling the API', async () => {
    await using world = await open()
    const labels = { ...request.labels, infra: 'Ä' }
    await expect(world.provider.create({ ...request, labels }, signal())).rejects.toMatchObject({
      problem: 'refused',
      message: expect.stringContaining('is not a valid tag'),
    })
    expect(world.creates()).toBe(0)
  })
})
