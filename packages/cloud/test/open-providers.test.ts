import { describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { openProviders, providersFrom } from '../src/open-providers.ts'
import { CloudError, type CloudProvider } from '../src/provider.ts'
import { openTestCloud } from './life/test-cloud.ts'

const signal = new AbortController().signal
const kind = { region: 'here', type: 'small', spot: false }

describe('The providers of a farm', () => {
  test('are those that the settings name', async () => {
    const local = { dockerSocket: '/nowhere.sock', image: undefined, prices: {} }
    await using providers = openProviders({ local }, silentLogger)
    expect(providers.configured).toEqual(['local'])
    expect((await providers.get('local')).name).toBe('local')
    await expect(providers.get('aws')).rejects.toMatchObject({
      problem: 'credentials',
      message: expect.stringContaining('cloud.aws'),
    })
  })

  test('are made on first use and only once', async () => {
    const cloud = await openTestCloud()
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

  test('are made anew after a failure', async () => {
    const cloud = await openTestCloud()
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

  test('are believed for a while once they have let us in, never after a refusal', async () => {
    const cloud = await openTestCloud()
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

  test("have the operator's own prices, and their own for the rest", async () => {
    const cloud = await openTestCloud()
    await using providers = providersFrom({ local: async () => cloud }, { local: { big: 3 } }, silentLogger)
    expect(await providers.price('local', { ...kind, type: 'big' }, signal)).toBe(3)
    expect(await providers.price('local', kind, signal)).toBe(0.01)
    await cloud.close()
  })
})
