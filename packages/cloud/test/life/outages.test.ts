import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { silentLogger } from '@scanfarm/platform'
import type { CloudStore } from '@scanfarm/store'
import { asSuperuser } from '@scanfarm/store/testing'
import { providersFrom } from '../../src/open-providers.ts'
import type { CloudProvider } from '../../src/provider.ts'
import type { LifeSettings } from '../../src/life/settings.ts'
import { clearAway, isEnded, isReady, openFarm, statuses, until, type TestFarm } from './farm.ts'
import { unavailable } from './test-cloud.ts'

let farm: TestFarm
beforeAll(async () => {
  farm = await openFarm()
})
afterEach(() => clearAway(farm))
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

const sql = (text: string) => asSuperuser((client) => client.query(text), farm.db.url)

/** A hold is renewed as often as `holdMs` says, and lasts so long that no busy machine loses it between two renewals. */
const RENEWING: Partial<LifeSettings> = { holdMs: 300 }
const lastingHolds = (): CloudStore => ({
  ...farm.store.cloud,
  take: (owner) => farm.store.cloud.take(owner, 60_000),
  again: (infraNo, owner) => farm.store.cloud.again(infraNo, owner, 60_000),
})

describe('A machine whose making had no known outcome', () => {
  test('is found by its name and not made twice', async () => {
    farm.cloud.faults = {
      afterCreate(_, call) {
        if (call === 1) throw unavailable()
      },
    }
    const { infra_id: id } = await farm.request()
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.created).toHaveLength(1)
  })

  test('is made again when it did not show up in time', async () => {
    const notes: number[] = []
    const asked: number[] = []
    farm.cloud.faults = {
      beforeCreate(_, call) {
        asked.push(performance.now())
        if (call === 1) throw unavailable()
      },
    }
    const noting: CloudStore = {
      ...farm.store.cloud,
      // The time counts from this note, which is in the database before the provider is asked.
      asking: (...args) => (notes.push(performance.now()), farm.store.cloud.asking(...args)),
    }
    const { infra_id: id } = await farm.request()
    await using _loops = farm.loops({ showSeconds: 0.5 }, noting)
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.created).toHaveLength(1)
    expect((asked[1] ?? 0) - (notes[0] ?? 0)).toBeGreaterThan(450)
  })

  test('is waited for while it does not show in the list', async () => {
    farm.cloud.faults = {
      hideNew: true,
      afterCreate() {
        throw unavailable()
      },
    }
    const { infra_id: id } = await farm.request()
    await using _loops = farm.loops({ showSeconds: 60 })
    await farm.untilInfra(id, ({ details }) => /overloaded/.test(details[0]?.message ?? ''))
    farm.cloud.showAll()
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.createCalls).toBe(1)
  })

  test('and that shows up after a second one was made is destroyed', async () => {
    farm.cloud.faults = {
      hideNew: true,
      afterCreate(_, call) {
        farm.cloud.faults.hideNew = false
        if (call === 1) throw unavailable()
      },
    }
    const { infra_id: id } = await farm.request()
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.names).toHaveLength(2)
    farm.cloud.showAll()
    await until(
      async () => farm.cloud.names,
      (names) => names.length === 1,
    )
    const infra = await farm.infra(id)
    expect((await farm.cloud.list('the-farm'))[0]?.id).toBe(infra.details[0]?.resource_id)
    expect(infra.status).toBe('ready')
  })

  test('is destroyed when the infrastructure was given up meanwhile', async () => {
    const { infra_id: id } = await farm.request()
    farm.cloud.faults = {
      hideNew: true,
      async afterCreate() {
        await farm.store.cloud.drain(id, 'not wanted any more')
        throw unavailable()
      },
    }
    {
      await using _loops = farm.loops({ showSeconds: 60 })
      await farm.untilInfra(id, ({ status }) => status === 'draining')
      expect(statuses(await farm.infra(id))).toEqual(['requested'])
    }
    farm.cloud.showAll()
    await using _loops = farm.loops()
    expect(await farm.untilInfra(id, isEnded)).toMatchObject({ status: 'destroyed' })
    expect(farm.cloud.names).toEqual([])
  })
})

describe('A server that dies', () => {
  test('between the answer of the provider and its own commit leaves nothing that is made again', async () => {
    const { infra_id: id } = await farm.request({ instances: 2 })
    const dying = {
      ...farm.store.cloud,
      moveInstance: () => Promise.reject(new Error('the database is gone')),
    }
    expect(await farm.look({ store: dying, owner: 'dying' })).toBe(true)
    expect(farm.cloud.created).toHaveLength(2)
    expect(statuses(await farm.infra(id))).toEqual(['requested', 'requested'])
    await sql('update cloud_infras set due_at = now()')
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.created).toHaveLength(2)
  })

  test('before its call to the provider is followed by another, which asks in its place', async () => {
    const { infra_id: id } = await farm.request()
    const held = await farm.store.cloud.take('dying', 60_000)
    if (held === undefined) throw new Error('there is nothing to take')
    await farm.store.cloud.moveInfra(held.no, 'provisioning', '')
    expect(await farm.store.cloud.asking(held.instances[0]?.no ?? 0, 'dying')).toBe(true)
    await sql(`update cloud_infras set owner_until = now() + interval '200 ms' where infra_id = '${id}'`)
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.created).toHaveLength(1)
  })

  test('while it destroys is followed by another', async () => {
    const { infra_id: id } = await farm.request()
    {
      await using _loops = farm.loops()
      await farm.untilInfra(id, isReady)
    }
    await farm.store.cloud.drain(id, 'enough')
    await farm.look({ owner: 'dying' })
    await sql(
      `update cloud_infras set owner = 'dying', owner_until = now() + interval '200 ms', due_at = now()`,
    )
    await using _loops = farm.loops()
    await farm.untilInfra(id, isEnded)
    expect(farm.cloud.names).toEqual([])
  })
})

describe('Two servers', () => {
  test('make every machine once', async () => {
    const ids: string[] = []
    for (const instances of [3, 2, 2]) ids.push((await farm.request({ instances })).infra_id)
    await using _one = farm.loops()
    await using _other = farm.loops()
    for (const id of ids) await farm.untilInfra(id, isReady)
    expect(farm.cloud.createCalls).toBe(7)
    expect(new Set(farm.cloud.created).size).toBe(7)
  })

  test('do not both make a machine when the one is slower than its hold', async () => {
    const { infra_id: id } = await farm.request({ instances: 2 })
    const slow = Promise.withResolvers<void>()
    const slowStore = {
      ...farm.store.cloud,
      // The process stands still between its decision and the question whether it may.
      asking: async (...args: Parameters<typeof farm.store.cloud.asking>) => {
        await slow.promise
        return farm.store.cloud.asking(...args)
      },
      again: farm.store.cloud.again,
    }
    const looking = farm.look({ store: slowStore, owner: 'slow' })
    await until(
      () => sql("select from cloud_infras where owner = 'slow' and status = 'provisioning'"),
      ({ rowCount }) => rowCount === 1,
    )
    await sql(`update cloud_infras set owner_until = now(), due_at = now() where owner = 'slow'`)
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    slow.resolve()
    await looking
    expect(farm.cloud.createCalls).toBe(2)
  })
})

describe('A provider that is overloaded', () => {
  test('is left alone for as long as it says', async () => {
    const { infra_id: id } = await farm.request({ instances: 4 })
    farm.cloud.faults = {
      beforeCreate() {
        throw unavailable(3_600_000)
      },
    }
    await farm.look({ settings: { ...farm.settings, parallelCreates: 1 } })
    expect(farm.cloud.createCalls).toBe(1)
    expect((await farm.infra(id)).details[0]?.message).toBe('the test cloud is overloaded')
    const { rows } = await sql(
      `select extract(epoch from due_at - now())::float8 as seconds, poked from cloud_infras where infra_id = '${id}'`,
    )
    expect(rows[0].seconds).toBeGreaterThan(3_000)
  })

  test('and cannot be asked about its machines loses none of them', async () => {
    const { infra_id: id } = await farm.request()
    let asked = 0
    {
      await using _loops = farm.loops()
      await farm.untilInfra(id, isReady)
      farm.cloud.faults = {
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
    expect((await farm.infra(id)).status).toBe('ready')
  })
})

describe('A server whose settings do not name the provider', () => {
  test('leaves the infrastructure to others and says why it waits', async () => {
    const { infra_id: id } = await farm.request()
    await using providers = providersFrom({}, {}, silentLogger)
    expect(await farm.look({ providers })).toBe(true)
    const infra = await farm.infra(id)
    expect(infra.details[0]).toMatchObject({
      status: 'requested',
      message: 'the provider local has no credentials in the settings: see cloud.local',
    })
    await sql('update cloud_infras set due_at = now()')
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
  })
})

describe('A look that lasts longer than its hold', () => {
  test('keeps the infrastructure while it goes on', async () => {
    const { infra_id: id } = await farm.request()
    const [made, slow] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    farm.cloud.faults = { afterCreate: () => (made.resolve(), slow.promise) }
    const looking = farm.look({ store: lastingHolds(), settings: { ...farm.settings, ...RENEWING } })
    await made.promise
    const heldUntil = async (): Promise<number> => {
      const { rows } = await sql(
        `select extract(epoch from owner_until) * 1000 as ms from cloud_infras where infra_id = '${id}'`,
      )
      return Number(rows[0].ms)
    }
    const atFirst = await heldUntil()
    await until(heldUntil, (now) => now - atFirst > 3 * (RENEWING.holdMs ?? 0))
    expect(await farm.store.cloud.take('other', 1_000)).toBeUndefined()
    slow.resolve()
    await looking
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.createCalls).toBe(1)
  })

  test('ends when another server has taken it all the same', async () => {
    const { infra_id: id } = await farm.request()
    let ended: unknown
    const provider: CloudProvider = Object.assign(Object.create(farm.cloud), {
      create: (_: unknown, signal: AbortSignal) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => {
            ended = signal.reason
            reject(signal.reason)
          }),
        ),
    })
    const looking = farm.look({
      store: lastingHolds(),
      providers: { get: async () => provider },
      settings: { ...farm.settings, ...RENEWING },
    })
    await until(
      () => sql(`select from cloud_instances where status = 'requested' and asked_at is not null`),
      ({ rowCount }) => rowCount === 1,
    )
    await sql(`update cloud_infras set owner = 'other', owner_until = now() where infra_id = '${id}'`)
    await looking
    expect(ended).toMatchObject({ name: 'LostInfraError' })
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.createCalls).toBe(1)
  })
})
