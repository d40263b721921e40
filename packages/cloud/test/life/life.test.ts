import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { asSuperuser } from '@scanfarm/store/testing'
import { CloudError } from '../../src/provider.ts'
import { clearAway, isEnded, isReady, openFarm, statuses, until, type TestFarm } from './farm.ts'

let farm: TestFarm
beforeAll(async () => {
  farm = await openFarm()
})
afterEach(() => clearAway(farm))
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

const sql = (text: string) => asSuperuser((client) => client.query(text), farm.db.url)
const capacity = () => new CloudError('capacity', 'no small machines left in here')

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
    {
      await using _loops = farm.loops()
      await farm.untilInfra(id, ({ details }) => /another host key/.test(details[0]?.message ?? ''))
    }
    await using _loops = farm.loops({ bootMinutes: 0 })
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
    let isBusy = true
    farm.cloud.faults = {
      beforeDestroy() {
        if (isBusy) throw new CloudError('refused', 'a snapshot is being taken')
      },
    }
    await farm.store.cloud.drain(id, 'enough')
    const held = await farm.untilInfra(id, ({ details }) => /snapshot/.test(details[0]?.message ?? ''))
    expect(held).toMatchObject({ status: 'draining', destroyed_at: null })
    expect(held.details[0]?.message).toBe('enough; it cannot be destroyed yet: a snapshot is being taken')
    expect(farm.cloud.names).toEqual([held.details[0]?.name])
    isBusy = false
    const infra = await farm.untilInfra(id, isEnded)
    expect(infra.details[0]).toMatchObject({ status: 'destroyed', message: 'enough' })
    expect(farm.cloud.names).toEqual([])
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
