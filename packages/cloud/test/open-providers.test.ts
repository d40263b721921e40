import { describe, expect, test } from '@jest/globals'
import { readConfig, silentLogger } from '@scanfarm/platform'
import { openProviders, providersFrom } from '../src/open-providers.ts'
import { CloudError, type CloudProvider } from '../src/provider.ts'
import { providerSettings } from '../src/providers/settings.ts'
import { cloudSettings } from '../src/settings.ts'
import { openFakeCloud } from './fake-cloud.ts'

const signal = new AbortController().signal
const kind = { region: 'here', type: 'small', spot: false }

describe('Settings by provider', () => {
  const settingsOf = (cloud: Record<string, unknown>) =>
    providerSettings(readConfig(cloudSettings, { env: {}, argvOverrides: cloud }).cloud)

  test('reach the provider that they name', () => {
    const settings = settingsOf({
      'cloud.regions': ['aws=eu-west-1', 'aws=us-east-1', 'gcp=europe-west1-b', 'gcp=us-east1-c'],
      'cloud.types': ['aws=t3.large'],
      'cloud.images': ['azure=Canonical:ubuntu:server:latest', 'local=mine:1'],
      'cloud.networks': ['aws=sg-1', 'aws=subnet-1', 'aws=sg-2', 'azure=net/sub', 'gcp=farm'],
      'cloud.private_addresses': ['azure'],
      'cloud.endpoints': [
        'azure=https://management.example',
        'azure-login=https://login.example',
        'local=/run/d.sock',
      ],
      'cloud.prices': ['aws:t3.large=0.08', 'azure:B2s=1'],
      'cloud.projects': ['gcp=p', 'azure=s/g'],
      'cloud.credentials': ['azure=t:c:s:x', 'hetzner=token'],
    })
    expect(Object.keys(settings)).toEqual(['aws', 'gcp', 'azure', 'hetzner', 'local'])
    expect(settings.aws).toMatchObject({
      region: 'eu-west-1',
      regions: ['us-east-1'],
      type: 't3.large',
      subnet: 'subnet-1',
      securityGroups: ['sg-1', 'sg-2'],
      privateAddress: false,
      prices: { 't3.large': 0.08 },
    })
    expect(settings.gcp).toMatchObject({ zone: 'europe-west1-b', zones: ['us-east1-c'], network: 'farm' })
    expect(settings.azure).toMatchObject({
      image: 'Canonical:ubuntu:server:latest',
      subnet: 'net/sub',
      privateAddress: true,
      endpoint: 'https://management.example',
      authority: 'https://login.example',
      tenant: 't',
      client: 'c',
      secret: 's:x',
      subscription: 's',
      resourceGroup: 'g',
    })
    expect(settings.local).toEqual({ dockerSocket: '/run/d.sock', image: 'mine:1' })
  })

  test.each([
    [{ 'cloud.regions': ['eu-west-1'] }, 'must hold entries of the form provider=value'],
    [{ 'cloud.images': ['aws=a', 'aws=b'] }, 'cloud.images has several entries for aws: keep one'],
    [
      { 'cloud.projects': ['azure=s/g'] },
      'cloud.networks must name the subnet of azure: azure=NETWORK/SUBNET',
    ],
  ])('%j are refused', (cloud, problem) => {
    expect(() => settingsOf(cloud)).toThrow(problem)
  })
})

describe('The providers of a farm', () => {
  test('are those with settings', async () => {
    const local = { dockerSocket: '/nowhere.sock', image: undefined, prices: {} }
    await using providers = openProviders({ local }, silentLogger)
    expect(providers.configured).toEqual(['local'])
    expect((await providers.get('local')).name).toBe('local')
    await expect(providers.get('aws')).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('cloud.credentials'),
    })
  })

  test('are created on first use and only once', async () => {
    const cloud = await openFakeCloud()
    let made = 0
    const make = async (): Promise<CloudProvider> => {
      made += 1
      return cloud
    }
    await using providers = providersFrom({ local: make }, {}, silentLogger)
    expect(made).toBe(0)
    const both = await Promise.all([providers.get('local'), providers.get('local')])
    expect(both).toEqual([cloud, cloud])
    expect(made).toBe(1)
    await cloud.close()
  })

  test('are created again after a failure', async () => {
    const cloud = await openFakeCloud()
    let tries = 0
    const make = async (): Promise<CloudProvider> => {
      tries += 1
      if (tries === 1) throw new Error('the library is broken')
      return cloud
    }
    await using providers = providersFrom({ local: make }, {}, silentLogger)
    await expect(providers.get('local')).rejects.toThrow('broken')
    expect(await providers.get('local')).toBe(cloud)
    await cloud.close()
  })

  test('cache a successful check of the credentials for a minute, and never a failed one', async () => {
    const cloud = await openFakeCloud()
    const answers = [new CloudError('credentials', 'the token is revoked'), undefined]
    let asked = 0
    cloud.check = async () => {
      const answer = answers[asked++]
      if (answer !== undefined) throw answer
    }
    await using providers = providersFrom({ local: async () => cloud }, {}, silentLogger)
    await expect(providers.check('local', signal)).rejects.toThrow('the token is revoked')
    await providers.check('local', signal)
    await providers.check('local', signal)
    expect(asked).toBe(2)
    await cloud.close()
  })

  test("have the operator's prices before their own", async () => {
    const cloud = await openFakeCloud()
    await using providers = providersFrom({ local: async () => cloud }, { local: { big: 3 } }, silentLogger)
    expect(await providers.price('local', { ...kind, type: 'big' }, signal)).toBe(3)
    expect(await providers.price('local', kind, signal)).toBe(0.01)
    await cloud.close()
  })
})
