import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { makeKeyPair } from '../../src/keys.ts'
import { reapOnce } from '../../src/life/reap-once.ts'
import { userDataOf } from '../../src/machine/user-data.ts'
import { CloudError } from '../../src/provider.ts'
import { FARM, openFarm, until, type TestFarm } from './farm.ts'

const AN_HOUR_S = 3_600
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

describe('The reaper', () => {
  let farm: TestFarm
  beforeAll(async () => {
    farm = await openFarm()
  })
  afterAll(async () => {
    await farm[Symbol.asyncDispose]()
  })

  const make = (name: string, labels: { farm?: string; expires?: number } = {}) =>
    farm.cloud.create({
      name,
      labels: { farm: FARM, infra: 'f00', expires: inSeconds(AN_HOUR_S), ...labels },
      region: '',
      type: '',
      spot: false,
      userData: userDataOf({
        user: farm.cloud.defaults.sshUser,
        publicKey: '',
        hostKey: makeKeyPair('host'),
        tools: [],
        commands: [],
      }),
      sshUser: '',
      publicKey: '',
    })
  const reap = () =>
    reapOnce({
      store: farm.store.cloud,
      provider: farm.cloud,
      farmId: FARM,
      log: silentLogger,
      signal: new AbortController().signal,
    })

  test('destroys what no row wants, and leaves wanted machines and other farms alone', async () => {
    const { details } = await farm.request({ instances: 1 })
    const wanted = details[0]?.name ?? ''
    await make(wanted)
    await make('scanfarm-lost-1')
    await make('scanfarm-lost-2', { farm: 'another-farm' })
    expect(await reap()).toBe(1)
    expect(farm.cloud.names).toEqual([wanted, 'scanfarm-lost-2'].sort())
    await farm.cloud.vanish('scanfarm-lost-2')
    await farm.cloud.vanish(wanted)
  })

  test('destroys what is expired, whatever the rows say', async () => {
    const { details } = await farm.request({ instances: 1 })
    const name = details[0]?.name ?? ''
    await make(name, { expires: inSeconds(-1) })
    expect(await reap()).toBe(1)
    expect(farm.cloud.names).toEqual([])
  })

  test('goes on when one machine refuses to die, and comes back to it', async () => {
    await make('scanfarm-a')
    await make('scanfarm-b')
    farm.cloud.faults = {
      beforeDestroy(name) {
        if (name === 'scanfarm-a') throw new CloudError('unavailable', 'try later')
      },
    }
    expect(await reap()).toBe(1)
    expect(farm.cloud.names).toEqual(['scanfarm-a'])
    farm.cloud.faults = {}
    expect(await reap()).toBe(1)
    expect(farm.cloud.names).toEqual([])
  })

  test('has its turn in one server at a time', async () => {
    await make('scanfarm-c')
    await using _one = farm.loops({ reaperSeconds: 3_600 })
    await using _other = farm.loops({ reaperSeconds: 3_600 })
    await until(
      async () => farm.cloud.names,
      (names) => !names.includes('scanfarm-c'),
    )
    await make('scanfarm-d')
    expect(await farm.store.cloud.reaping('local', AN_HOUR_S * 1000)).toBe(false)
    expect(farm.cloud.names).toContain('scanfarm-d')
    await farm.cloud.vanish('scanfarm-d')
  })
})
