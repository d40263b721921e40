import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import type { CloudInfra } from '@scanfarm/contracts'
import { asSuperuser } from '@scanfarm/store/testing'
import { CloudError } from '../../src/provider.ts'
import { openFarm, until, type TestFarm } from './farm.ts'
import { unavailable } from './test-cloud.ts'

let farm: TestFarm
beforeAll(async () => {
  farm = await openFarm()
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

const sql = (text: string) => asSuperuser((client) => client.query(text), farm.db.url)
const statuses = ({ details }: CloudInfra): string[] => details.map(({ status }) => status)
const isReady = ({ status }: CloudInfra): boolean => status === 'ready'
const isEnded = ({ status, details }: CloudInfra): boolean =>
  (status === 'destroyed' || status === 'failed') &&
  details.every((one) => one.status === 'destroyed' || one.status === 'failed')
const capacity = () => new CloudError('capacity', 'no small machines left in here')

/** Each test leaves a farm without machines. */
afterEach(async () => {
  farm.cloud.faults = {}
  farm.cloud.showAll()
  await using _loops = farm.loops()
  const page = await farm.store.cloud.list({}, { offset: 0, limit: 100 })
  for (const { infra_id: id, status } of page.data) {
    if (status !== 'destroyed' && status !== 'failed') await farm.store.cloud.drain(id, 'the test is over')
    await farm.untilInfra(id, isEnded)
  }
  for (const name of farm.cloud.names) await farm.cloud.vanish(name)
  farm.cloud.created.length = 0
  farm.cloud.destroyed.length = 0
  farm.cloud.createCalls = 0
})

describe('An infrastructure', () => {
  test('comes up: every machine has its name, labels and keys, and forgets its host key', async () => {
    const { infra_id: id } = await farm.request({ instances: 3 })
    await using _loops = farm.loops()
    const infra = await farm.untilInfra(id, isReady)
    expect(infra).toMatchObject({ ready_count: 3, total_count: 3, message: '3 machines are ready' })
    expect(farm.cloud.names).toEqual(infra.details.map(({ name }) => name).sort())
    const [machine] = await farm.cloud.list('the-farm')
    expect(machine?.labels).toMatchObject({ farm: 'the-farm', infra: id })
    expect((machine?.labels.expires ?? 0) * 1000).toBeGreaterThan(Date.parse(infra.expires_at))
    const { rows } = await sql(
      `select distinct host_key_private as key from cloud_instances where status = 'ready'`,
    )
    expect(rows).toEqual([{ key: '' }])
  })

  test('of which 3 of 5 machines come up works with these and says why', async () => {
    farm.cloud.faults = {
      beforeCreate(_, call) {
        if (call > 3) throw capacity()
      },
    }
    const { infraId, runIds } = await farm.submit(6, { instances: 5 })
    await using _loops = farm.loops()
    const infra = await farm.untilInfra(infraId, isReady)
    expect(infra.message).toBe('3 of 5 machines came up: no small machines left in here')
    expect(statuses(infra).sort()).toEqual(['failed', 'failed', 'ready', 'ready', 'ready'])
    const runs = await until(
      () => Promise.all(runIds.map((id) => farm.run(id))),
      (all) => all.every((run) => run.cloud_instance !== ''),
    )
    expect(new Set(runs.map((run) => run.cloud_instance)).size).toBe(3)
  })

  test('of which no machine comes up fails, and its runs with it, in the words of the provider', async () => {
    farm.cloud.faults = {
      beforeCreate() {
        throw new CloudError('refused', 'the size "small" is not allowed in this account')
      },
    }
    const { infraId, runIds } = await farm.submit(2, { instances: 2 })
    await using _loops = farm.loops()
    const infra = await farm.untilInfra(infraId, ({ status }) => status === 'failed')
    expect(infra.message).toBe('no machine came up: the size "small" is not allowed in this account')
    const run = await farm.untilRun(runIds[0] ?? 0, ({ status }) => status === 'failed')
    expect(run.error_message).toContain('is not allowed in this account')
  })

  test('gives up machines that are not ready in time, with what was missing last', async () => {
    const { infra_id: id } = await farm.request({ instances: 1 })
    const setup = ['mkfifo /var/lib/wait', 'cat /var/lib/wait']
    await using _loops = farm.loops({ bootMinutes: 0.02, setup })
    const infra = await farm.untilInfra(id, isEnded)
    expect(infra.status).toBe('failed')
    expect(infra.details[0]?.message).toMatch(/^it was not ready in 0.02 minutes: /)
    expect(farm.cloud.names).toEqual([])
  })

  test('gives up at once what will never be ready', async () => {
    const { infra_id: id } = await farm.request({ tools: ['no-such-tool'] })
    await using _loops = farm.loops()
    const infra = await farm.untilInfra(id, isEnded)
    expect(infra.message).toContain('it lacks no-such-tool')
    expect(farm.cloud.names).toEqual([])
  })

  test('never takes a machine that shows another host key', async () => {
    const { infra_id: id } = await farm.request()
    farm.cloud.faults = {
      beforeBoot: (config) => ({ ...config, ssh_keys: { ed25519_private: farm.cloud.strangeHostKey } }),
    }
    await using _loops = farm.loops({ bootMinutes: 0.03 })
    const infra = await farm.untilInfra(id, isEnded)
    expect(infra.details[0]).toMatchObject({ status: 'failed', ready_at: null })
    expect(infra.message).toContain('another host key')
  })

  test('is destroyed on demand, also while its machines are being made', async () => {
    const { infra_id: id } = await farm.request({ instances: 3 })
    farm.cloud.faults = {
      async afterCreate(_, call) {
        if (call === 1) await farm.store.cloud.drain(id, 'not wanted any more')
      },
    }
    await using _loops = farm.loops({ parallelCreates: 1 })
    const infra = await farm.untilInfra(id, isEnded)
    expect(infra.status).toBe('destroyed')
    expect(farm.cloud.created).toHaveLength(1)
    expect(farm.cloud.names).toEqual([])
  })

  test('is destroyed when its time is over, and what waits for it fails with that', async () => {
    const { infraId, runIds } = await farm.submit(1, {})
    await using _loops = farm.loops()
    await farm.untilInfra(infraId, isReady)
    await sql(`update cloud_infras set expires_at = now(), due_at = now() where infra_id = '${infraId}'`)
    const infra = await farm.untilInfra(infraId, isEnded)
    expect(infra).toMatchObject({ status: 'destroyed', message: 'its time is over' })
    expect(await farm.run(runIds[0] ?? 0)).toMatchObject({ status: 'failed' })
    expect(farm.cloud.names).toEqual([])
  })

  test('is destroyed after the last run of its jobs, if it was asked to', async () => {
    const { infraId, runIds } = await farm.submit(2, { autoDestroy: true })
    await using _loops = farm.loops()
    await farm.untilInfra(infraId, isReady)
    await farm.store.runs.requestCancel(String(runIds[0]))
    expect((await farm.infra(infraId)).status).toBe('ready')
    await farm.store.runs.requestCancel(String(runIds[1]))
    const infra = await farm.untilInfra(infraId, isEnded)
    expect(infra).toMatchObject({ status: 'destroyed', message: 'its work is done' })
    expect(farm.cloud.names).toEqual([])
  })

  test('counts a machine as gone only when the provider no longer has it', async () => {
    const { infra_id: id } = await farm.request()
    await using _loops = farm.loops()
    await farm.untilInfra(id, isReady)
    let refusals = 3
    farm.cloud.faults = {
      beforeDestroy() {
        if (refusals-- > 0) throw new CloudError('refused', 'a snapshot is being taken')
      },
    }
    await farm.store.cloud.drain(id, 'enough')
    const held = await farm.untilInfra(id, ({ details }) => /snapshot/.test(details[0]?.message ?? ''))
    expect(held).toMatchObject({ status: 'draining', destroyed_at: null })
    expect(held.details[0]?.message).toBe('enough; it cannot be destroyed yet: a snapshot is being taken')
    const infra = await farm.untilInfra(id, isEnded)
    expect(infra.details[0]).toMatchObject({ status: 'destroyed', message: 'enough' })
    expect(refusals).toBeLessThan(0)
  })
})

describe('A machine that is lost', () => {
  test('lets its runs move to another, also those that were running', async () => {
    const { infraId, runIds } = await farm.submit(2, { instances: 2 })
    await using _loops = farm.loops()
    const infra = await farm.untilInfra(infraId, isReady)
    const [first = 0] = runIds
    await farm.untilRun(first, (run) => run.cloud_instance !== '')
    const workerId = 'server-1'
    await farm.db.runStore.join({
      workerId,
      name: 'server',
      hostname: 'host',
      pid: 1,
      version: '1.0.0',
      kind: 'server',
      slots: 8,
      capabilities: [],
      leaseMs: 60_000,
    })
    const claimed = await farm.db.runStore.claimCloud(workerId, 1)
    const { cloud_instance: name } = await farm.run(claimed[0]?.runId ?? 0)
    farm.cloud.interrupt(name, 'the spot price is too high')
    const run = await farm.untilRun(
      claimed[0]?.runId ?? 0,
      ({ status, cloud_instance: at }) => status === 'queued' && at !== name && at !== '',
    )
    expect(infra.details.map((one) => one.name)).toContain(run.cloud_instance)
    const lost = (await farm.infra(infraId)).details.find((one) => one.name === name)
    expect(lost?.message).toBe('the provider takes it away: the spot price is too high')
    await until(
      async () => farm.cloud.names,
      (names) => !names.includes(name),
    )
    expect((await farm.infra(infraId)).status).toBe('ready')
    await farm.db.runStore.leave(workerId)
  })

  test('and was the last one takes the infrastructure and its runs along', async () => {
    const { infraId, runIds } = await farm.submit(1, {})
    await using _loops = farm.loops()
    const { details } = await farm.untilInfra(infraId, isReady)
    await farm.cloud.vanish(details[0]?.name ?? '')
    const infra = await farm.untilInfra(infraId, isEnded)
    expect(infra.message).toBe('no machine is left: the provider does not have it any more')
    await farm.untilRun(runIds[0] ?? 0, ({ status }) => status === 'failed')
  })
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
    const asked: number[] = []
    farm.cloud.faults = {
      beforeCreate(_, call) {
        asked.push(performance.now())
        if (call === 1) throw unavailable()
      },
    }
    const { infra_id: id } = await farm.request()
    await using _loops = farm.loops({ showSeconds: 0.5 })
    await farm.untilInfra(id, isReady)
    expect(farm.cloud.created).toHaveLength(1)
    expect((asked[1] ?? 0) - (asked[0] ?? 0)).toBeGreaterThan(450)
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
    const held = await farm.store.cloud.take('dying', 300)
    if (held === undefined) throw new Error('there is nothing to take')
    await farm.store.cloud.moveInfra(held.no, 'provisioning', '')
    expect(await farm.store.cloud.asking(held.instances[0]?.no ?? 0, 'dying')).toBe(true)
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
