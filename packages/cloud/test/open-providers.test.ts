import { describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { openProviders, providersFrom } from '../src/open-providers.ts'
import { CloudError, type CloudProvider } from '../src/provider.ts'
import { openFakeCloud } from './fake-cloud.ts'

const signal = new AbortController().signal
const kind = { region: 'here', type: 'small', spot: false }

describe('The providers of a farm', () => {
  test('are those with settings', async () => {
    const local = { dockerSocket: '/nowhere.sock', image: undefined, prices: {} }
    await using providers = openProviders({ local }, silentLogger)
    expect(providers.configured).toEqual(['local'])
    expect((await providers.get('local')).name).toBe('local')
    await expect(providers.get('aws')).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('cloud.aws'),
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
