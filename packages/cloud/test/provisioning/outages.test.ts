import { afterEach, describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import type { CloudStore } from '@scanfarm/store'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { providersFrom } from '../../src/open-providers.ts'
import type { CloudProvider } from '../../src/provider.ts'
import type { ProvisioningSettings } from '../../src/provisioning/settings.ts'
import { clearAway, isEnded, isReady, openTestCluster, statuses } from './test-cluster.ts'
import { unavailable } from '../fake-cloud.ts'

const cluster = forAllTests(openTestCluster)
afterEach(() => clearAway(cluster))

const sql = (text: string) => cluster.db.sql(text)

/** Leases are renewed at the rate of `leaseMs` but last so long that a busy host does not lose them. */
const RENEWING: Partial<ProvisioningSettings> = { leaseMs: 300 }
const longLeases = (): CloudStore => ({
  ...cluster.store.cloud,
  acquire: (owner) => cluster.store.cloud.acquire(owner, 60_000),
  renew: (infraNo, owner) => cluster.store.cloud.renew(infraNo, owner, 60_000),
})

describe('A machine whose create call had no known outcome', () => {
  test('is found by its name and not created twice', async () => {
    cluster.cloud.faults = {
      afterCreate(_, call) {
        if (call === 1) throw unavailable()
      },
    }
    const { infra_id: id } = await cluster.request()
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.created).toHaveLength(1)
  })

  test('is created again when it is not listed in time', async () => {
    const notes: number[] = []
    const asked: number[] = []
    cluster.cloud.faults = {
      beforeCreate(_, call) {
        asked.push(performance.now())
        if (call === 1) throw unavailable()
      },
    }
    const noting: CloudStore = {
      ...cluster.store.cloud,
      // The time starts at this mark, which is committed before the create call.
      markCreateStarted: (...args) => (
        notes.push(performance.now()),
        cluster.store.cloud.markCreateStarted(...args)
      ),
    }
    const { infra_id: id } = await cluster.request()
    await using _loops = cluster.loops({ listLagSeconds: 0.5 }, noting)
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.created).toHaveLength(1)
    expect((asked[1] ?? 0) - (notes[0] ?? 0)).toBeGreaterThan(450)
  })

  test('is waited for while it may not be listed yet', async () => {
    cluster.cloud.faults = {
      hideNew: true,
      afterCreate() {
        throw unavailable()
      },
    }
    const { infra_id: id } = await cluster.request()
    await using _loops = cluster.loops({ listLagSeconds: 60 })
    await cluster.untilInfra(id, ({ details }) => /overloaded/.test(details[0]?.message ?? ''))
    cluster.cloud.showAll()
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.createCalls).toBe(1)
  })

  test('is destroyed when it appears after a second one was created', async () => {
    cluster.cloud.faults = {
      hideNew: true,
      afterCreate(_, call) {
        cluster.cloud.faults.hideNew = false
        if (call === 1) throw unavailable()
      },
    }
    const { infra_id: id } = await cluster.request()
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.names).toHaveLength(2)
    cluster.cloud.showAll()
    await until(
      async () => cluster.cloud.names,
      (names) => names.length === 1,
    )
    const infra = await cluster.infra(id)
    expect((await cluster.cloud.list('the-farm'))[0]?.id).toBe(infra.details[0]?.resource_id)
    expect(infra.status).toBe('ready')
  })

  test('is destroyed when the infrastructure was destroyed meanwhile', async () => {
    const { infra_id: id } = await cluster.request()
    cluster.cloud.faults = {
      hideNew: true,
      async afterCreate() {
        await cluster.store.cloud.drain(id, 'not wanted any more')
        throw unavailable()
      },
    }
    {
      await using _loops = cluster.loops({ listLagSeconds: 60 })
      await cluster.untilInfra(id, ({ status }) => status === 'draining')
      expect(statuses(await cluster.infra(id))).toEqual(['requested'])
    }
    cluster.cloud.showAll()
    await using _loops = cluster.loops()
    expect(await cluster.untilInfra(id, isEnded)).toMatchObject({ status: 'destroyed' })
    expect(cluster.cloud.names).toEqual([])
  })
})

describe('A server that dies', () => {
  test("between the provider's response and its own commit causes no second create call", async () => {
    const { infra_id: id } = await cluster.request({ instances: 2 })
    const dying = {
      ...cluster.store.cloud,
      moveInstance: () => Promise.reject(new Error('the database is gone')),
    }
    expect(await cluster.reconcile({ store: dying, owner: 'dying' })).toBe(true)
    expect(cluster.cloud.created).toHaveLength(2)
    expect(statuses(await cluster.infra(id))).toEqual(['requested', 'requested'])
    await sql('update cloud_infras set due_at = now()')
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.created).toHaveLength(2)
  })

  test('before its call to the provider is replaced by another one, which makes the call', async () => {
    const { infra_id: id } = await cluster.request()
    const held = await cluster.store.cloud.acquire('dying', 60_000)
    if (held === undefined) throw new Error('there is nothing to take')
    await cluster.store.cloud.moveInfra(held.no, 'provisioning', '')
    expect(await cluster.store.cloud.markCreateStarted(held.instances[0]?.no ?? 0, 'dying')).toBe(true)
    await sql(`update cloud_infras set owner_until = now() + interval '200 ms' where infra_id = '${id}'`)
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.created).toHaveLength(1)
  })

  test('during a destroy call is replaced by another one', async () => {
    const { infra_id: id } = await cluster.request()
    {
      await using _loops = cluster.loops()
      await cluster.untilInfra(id, isReady)
    }
    await cluster.store.cloud.drain(id, 'enough')
    await cluster.reconcile({ owner: 'dying' })
    await sql(
      `update cloud_infras set owner = 'dying', owner_until = now() + interval '200 ms', due_at = now()`,
    )
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isEnded)
    expect(cluster.cloud.names).toEqual([])
  })
})

describe('Two servers', () => {
  test('create every machine once', async () => {
    const ids: string[] = []
    for (const instances of [3, 2, 2]) ids.push((await cluster.request({ instances })).infra_id)
    await using _one = cluster.loops()
    await using _other = cluster.loops()
    for (const id of ids) await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.createCalls).toBe(7)
    expect(new Set(cluster.cloud.created).size).toBe(7)
  })

  test('do not both create a machine when one is slower than its lease', async () => {
    const { infra_id: id } = await cluster.request({ instances: 2 })
    const slow = Promise.withResolvers<void>()
    const slowStore = {
      ...cluster.store.cloud,
      // The process is suspended between its decision and the check of its lease.
      markCreateStarted: async (...args: Parameters<typeof cluster.store.cloud.markCreateStarted>) => {
        await slow.promise
        return cluster.store.cloud.markCreateStarted(...args)
      },
      renew: cluster.store.cloud.renew,
    }
    const reconciling = cluster.reconcile({ store: slowStore, owner: 'slow' })
    await until(
      () => sql("select from cloud_infras where owner = 'slow' and status = 'provisioning'"),
      ({ rowCount }) => rowCount === 1,
    )
    await sql(`update cloud_infras set owner_until = now(), due_at = now() where owner = 'slow'`)
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    slow.resolve()
    await reconciling
    expect(cluster.cloud.createCalls).toBe(2)
  })
})

describe('An overloaded provider', () => {
  test('gets no calls for as long as it asks for', async () => {
    const { infra_id: id } = await cluster.request({ instances: 4 })
    cluster.cloud.faults = {
      beforeCreate() {
        throw unavailable(3_600_000)
      },
    }
    await cluster.reconcile({ settings: { ...cluster.settings, parallelCreates: 1 } })
    expect(cluster.cloud.createCalls).toBe(1)
    expect((await cluster.infra(id)).details[0]?.message).toBe('the test cloud is overloaded')
    const { rows } = await sql(
      `select extract(epoch from due_at - now())::float8 as seconds, recheck from cloud_infras where infra_id = '${id}'`,
    )
    expect(rows[0]?.['seconds']).toBeGreaterThan(3_000)
  })

  test('that cannot list its machines loses none of them', async () => {
    const { infra_id: id } = await cluster.request()
    let asked = 0
    {
      await using _loops = cluster.loops()
      await cluster.untilInfra(id, isReady)
      cluster.cloud.faults = {
        beforeList() {
          asked += 1
          throw unavailable(10)
        },
      }
      await until(
        async () => asked,
        (count) => count > 2,
      )
    }
    expect((await cluster.infra(id)).status).toBe('ready')
  })
})

describe('A server whose settings do not name the provider', () => {
  test('leaves the infrastructure to other servers and records why it waits', async () => {
    const { infra_id: id } = await cluster.request()
    await using providers = providersFrom({}, {}, silentLogger)
    expect(await cluster.reconcile({ providers })).toBe(true)
    const infra = await cluster.infra(id)
    expect(infra.details[0]).toMatchObject({
      status: 'requested',
      message: 'the provider local has no credentials in the settings: see cloud.credentials',
    })
    await sql('update cloud_infras set due_at = now()')
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
  })
})

describe('A pass that lasts longer than its lease', () => {
  test('keeps the lease by renewing it', async () => {
    const { infra_id: id } = await cluster.request()
    const [made, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    cluster.cloud.faults = { afterCreate: () => (made.resolve(), slow.promise) }
    const reconciling = cluster.reconcile({
      store: longLeases(),
      settings: { ...cluster.settings, ...RENEWING },
    })
    await made.promise
    const leasedUntil = async (): Promise<number> => {
      const { rows } = await sql(
        `select extract(epoch from owner_until) * 1000 as ms from cloud_infras where infra_id = '${id}'`,
      )
      return Number(rows[0]?.['ms'])
    }
    const atFirst = await leasedUntil()
    await until(leasedUntil, (now) => now - atFirst > 3 * (RENEWING.leaseMs ?? 0))
    expect(await cluster.store.cloud.acquire('other', 1_000)).toBeUndefined()
    slow.resolve()
    await reconciling
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.createCalls).toBe(1)
  })

  test('ends when another server has acquired the lease', async () => {
    const { infra_id: id } = await cluster.request()
    let ended: unknown
    const provider: CloudProvider = Object.assign(Object.create(cluster.cloud), {
      create: (_: unknown, signal: AbortSignal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            ended = signal.reason
            reject(signal.reason)
          }),
        ),
    })
    const reconciling = cluster.reconcile({
      store: longLeases(),
      providers: { get: async () => provider },
      settings: { ...cluster.settings, ...RENEWING },
    })
    await until(
      () => sql(`select from cloud_instances where status = 'requested' and create_started_at is not null`),
      ({ rowCount }) => rowCount === 1,
    )
    await sql(`update cloud_infras set owner = 'other', owner_until = now() where infra_id = '${id}'`)
    await reconciling
    expect(ended).toMatchObject({ name: 'LeaseLostError' })
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    expect(cluster.cloud.createCalls).toBe(1)
  })
})
