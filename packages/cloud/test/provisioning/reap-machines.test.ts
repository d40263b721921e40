import { describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { createKeyPair } from '../../src/machine/ssh-keys.ts'
import { reapMachines } from '../../src/provisioning/reap-machines.ts'
import { renderUserData } from '../../src/machine/user-data.ts'
import { CloudError } from '../../src/provider.ts'
import { FARM, openTestCluster } from './test-cluster.ts'

const AN_HOUR_S = 3_600
const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

describe('The reaper', () => {
  const cluster = forAllTests(openTestCluster)

  const make = (name: string, labels: { farm?: string; expires?: number } = {}) =>
    cluster.cloud.create({
      name,
      labels: { farm: FARM, infra: 'f00', expires: inSeconds(AN_HOUR_S), ...labels },
      region: '',
      type: '',
      spot: false,
      userData: renderUserData({
        user: cluster.cloud.defaults.sshUser,
        publicKey: '',
        hostKey: createKeyPair('host'),
        tools: [],
        commands: [],
      }),
      sshUser: '',
      publicKey: '',
    })
  const reap = () =>
    reapMachines({
      store: cluster.store.cloud,
      provider: cluster.cloud,
      farmId: FARM,
      log: silentLogger,
      signal: new AbortController().signal,
    })

  test('destroys machines without a row, and no machines in use or of other farms', async () => {
    const { details } = await cluster.request({ instances: 1 })
    const wanted = details[0]?.name ?? ''
    await make(wanted)
    await make('scanfarm-lost-1')
    await make('scanfarm-lost-2', { farm: 'another-farm' })
    expect(await reap()).toBe(1)
    expect(cluster.cloud.names).toEqual([wanted, 'scanfarm-lost-2'].sort())
    await cluster.cloud.vanish('scanfarm-lost-2')
    await cluster.cloud.vanish(wanted)
  })

  test('destroys expired machines, whatever their rows say', async () => {
    const { details } = await cluster.request({ instances: 1 })
    const name = details[0]?.name ?? ''
    await make(name, { expires: inSeconds(-1) })
    expect(await reap()).toBe(1)
    expect(cluster.cloud.names).toEqual([])
  })

  test('continues after a failed destroy call, and repeats it in the next turn', async () => {
    await make('scanfarm-a')
    await make('scanfarm-b')
    cluster.cloud.faults = {
      beforeDestroy(name) {
        if (name === 'scanfarm-a') throw new CloudError('unavailable', 'try later')
      },
    }
    expect(await reap()).toBe(1)
    expect(cluster.cloud.names).toEqual(['scanfarm-a'])
    cluster.cloud.faults = {}
    expect(await reap()).toBe(1)
    expect(cluster.cloud.names).toEqual([])
  })

  test('runs on one server at a time', async () => {
    await make('scanfarm-c')
    await using _one = cluster.loops({ reaperSeconds: 3_600 })
    await using _other = cluster.loops({ reaperSeconds: 3_600 })
    await until(
      async () => cluster.cloud.names,
      (names) => !names.includes('scanfarm-c'),
    )
    await make('scanfarm-d')
    expect(await cluster.store.cloud.tryAcquireReaperTurn('local', AN_HOUR_S * 1000)).toBe(false)
    expect(cluster.cloud.names).toContain('scanfarm-d')
    await cluster.cloud.vanish('scanfarm-d')
  })
})
