import { afterEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { until } from '@scanfarm/testing'
import { CloudError } from '../../src/provider.ts'
import { clearAway, isEnded, isReady, openTestCluster, statuses } from './test-cluster.ts'

const cluster = forAllTests(openTestCluster)
afterEach(() => clearAway(cluster))

const sql = (text: string) => cluster.db.sql(text)
const capacity = () => new CloudError('capacity', 'no small machines left in here')

describe('An infrastructure', () => {
  test('comes up with machines that have their names, labels and keys; private host keys are then deleted', async () => {
    const { infra_id: id } = await cluster.request({ instances: 3 })
    await using _loops = cluster.loops()
    const infra = await cluster.untilInfra(id, isReady)
    expect(infra).toMatchObject({ ready_count: 3, total_count: 3, message: '3 machines are ready' })
    expect(cluster.cloud.names).toEqual(infra.details.map(({ name }) => name).sort())
    const [machine] = await cluster.cloud.list('the-farm')
    expect(machine?.labels).toMatchObject({ farm: 'the-farm', infra: id })
    expect((machine?.labels.expires ?? 0) * 1000).toBeGreaterThan(Date.parse(infra.expires_at))
    const { rows } = await sql(
      `select distinct host_key_private as key from cloud_instances where status = 'ready'`,
    )
    expect(rows).toEqual([{ key: '' }])
  })

  test('with 3 of 5 machines is ready and reports why the others failed', async () => {
    cluster.cloud.faults = {
      beforeCreate(_, call) {
        if (call > 3) throw capacity()
      },
    }
    const { infraId, runIds } = await cluster.submit(6, { instances: 5 })
    await using _loops = cluster.loops()
    const infra = await cluster.untilInfra(infraId, isReady)
    expect(infra.message).toBe('3 of 5 machines came up: no small machines left in here')
    expect(statuses(infra).sort()).toEqual(['failed', 'failed', 'ready', 'ready', 'ready'])
    const runs = await until(
      () => Promise.all(runIds.map((id) => cluster.run(id))),
      (all) => all.every((run) => run.cloud_instance !== ''),
    )
    expect(new Set(runs.map((run) => run.cloud_instance)).size).toBe(3)
  })

  test('without any machine fails together with its runs, with the message of the provider', async () => {
    cluster.cloud.faults = {
      beforeCreate() {
        throw new CloudError('refused', 'the size "small" is not allowed in this account')
      },
    }
    const { infraId, runIds } = await cluster.submit(2, { instances: 2 })
    await using _loops = cluster.loops()
    const infra = await cluster.untilInfra(infraId, ({ status }) => status === 'failed')
    expect(infra.message).toBe('no machine came up: the size "small" is not allowed in this account')
    const run = await cluster.untilRun(runIds[0] ?? 0, ({ status }) => status === 'failed')
    expect(run.error_message).toContain('is not allowed in this account')
  })

  test('destroys machines that are not ready in time, with the last reason', async () => {
    const { infra_id: id } = await cluster.request({ instances: 1 })
    const setup = ['mkfifo /var/lib/wait', 'cat /var/lib/wait']
    await using _loops = cluster.loops({ bootMinutes: 0.02, setup })
    const infra = await cluster.untilInfra(id, isEnded)
    expect(infra.status).toBe('failed')
    expect(infra.details[0]?.message).toMatch(/^it was not ready in 0.02 minutes: /)
    expect(cluster.cloud.names).toEqual([])
  })

  test('destroys machines that cannot become ready at once', async () => {
    const { infra_id: id } = await cluster.request({ tools: ['no-such-tool'] })
    await using _loops = cluster.loops()
    const infra = await cluster.untilInfra(id, isEnded)
    expect(infra.message).toContain('it lacks no-such-tool')
    expect(cluster.cloud.names).toEqual([])
  })

  test('never accepts a machine with another host key', async () => {
    const { infra_id: id } = await cluster.request()
    cluster.cloud.faults = {
      beforeBoot: (config) => ({ ...config, ssh_keys: { ed25519_private: cluster.cloud.strangeHostKey } }),
    }
    {
      await using _loops = cluster.loops()
      await cluster.untilInfra(id, ({ details }) => /another host key/.test(details[0]?.message ?? ''))
    }
    await using _loops = cluster.loops({ bootMinutes: 0 })
    const infra = await cluster.untilInfra(id, isEnded)
    expect(infra.details[0]).toMatchObject({ status: 'failed', ready_at: null })
    expect(infra.message).toContain('another host key')
  })

  test('is destroyed on request, also while its machines are being created', async () => {
    const { infra_id: id } = await cluster.request({ instances: 3 })
    cluster.cloud.faults = {
      async afterCreate(_, call) {
        if (call === 1) await cluster.store.cloud.drain(id, 'not wanted any more')
      },
    }
    await using _loops = cluster.loops({ parallelCreates: 1 })
    const infra = await cluster.untilInfra(id, isEnded)
    expect(infra.status).toBe('destroyed')
    expect(cluster.cloud.created).toHaveLength(1)
    expect(cluster.cloud.names).toEqual([])
  })

  test('is destroyed when its time is over, and its waiting runs fail', async () => {
    const { infraId, runIds } = await cluster.submit(1, {})
    await using _loops = cluster.loops()
    await cluster.untilInfra(infraId, isReady)
    await sql(`update cloud_infras set expires_at = now(), due_at = now() where infra_id = '${infraId}'`)
    const infra = await cluster.untilInfra(infraId, isEnded)
    expect(infra).toMatchObject({ status: 'destroyed', message: 'its time is over' })
    expect(await cluster.run(runIds[0] ?? 0)).toMatchObject({ status: 'failed' })
    expect(cluster.cloud.names).toEqual([])
  })

  test('with auto_destroy is destroyed after the last run of its jobs', async () => {
    const { infraId, runIds } = await cluster.submit(2, { autoDestroy: true })
    await using _loops = cluster.loops()
    await cluster.untilInfra(infraId, isReady)
    await cluster.store.runs.requestCancel(String(runIds[0]))
    expect((await cluster.infra(infraId)).status).toBe('ready')
    await cluster.store.runs.requestCancel(String(runIds[1]))
    const infra = await cluster.untilInfra(infraId, isEnded)
    expect(infra).toMatchObject({ status: 'destroyed', message: 'its work is done' })
    expect(cluster.cloud.names).toEqual([])
  })

  test('counts a machine as destroyed only when the provider no longer has it', async () => {
    const { infra_id: id } = await cluster.request()
    await using _loops = cluster.loops()
    await cluster.untilInfra(id, isReady)
    let isBusy = true
    cluster.cloud.faults = {
      beforeDestroy() {
        if (isBusy) throw new CloudError('refused', 'a snapshot is being taken')
      },
    }
    await cluster.store.cloud.drain(id, 'enough')
    const held = await cluster.untilInfra(id, ({ details }) => /snapshot/.test(details[0]?.message ?? ''))
    expect(held).toMatchObject({ status: 'draining', destroyed_at: null })
    expect(held.details[0]?.message).toBe('enough; it cannot be destroyed yet: a snapshot is being taken')
    expect(cluster.cloud.names).toEqual([held.details[0]?.name])
    isBusy = false
    const infra = await cluster.untilInfra(id, isEnded)
    expect(infra.details[0]).toMatchObject({ status: 'destroyed', message: 'enough' })
    expect(cluster.cloud.names).toEqual([])
  })
})

describe('A lost machine', () => {
  test('has its runs queued again, also running ones', async () => {
    const { infraId, runIds } = await cluster.submit(2, { instances: 2 })
    await using _loops = cluster.loops()
    const infra = await cluster.untilInfra(infraId, isReady)
    const [first = 0] = runIds
    await cluster.untilRun(first, (run) => run.cloud_instance !== '')
    const workerId = 'server-1'
    await cluster.db.runStore.join({
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
    const claimed = await cluster.db.runStore.claimCloud(workerId, 1)
    const { cloud_instance: name } = await cluster.run(claimed[0]?.runId ?? 0)
    cluster.cloud.interrupt(name, 'the spot price is too high')
    const run = await cluster.untilRun(
      claimed[0]?.runId ?? 0,
      ({ status, cloud_instance: at }) => status === 'queued' && at !== name && at !== '',
    )
    expect(infra.details.map((one) => one.name)).toContain(run.cloud_instance)
    const lost = (await cluster.infra(infraId)).details.find((one) => one.name === name)
    expect(lost?.message).toBe('the provider is stopping it: the spot price is too high')
    await until(
      async () => cluster.cloud.names,
      (names) => !names.includes(name),
    )
    expect((await cluster.infra(infraId)).status).toBe('ready')
    await cluster.db.runStore.leave(workerId)
  })

  test('fails the infrastructure and its runs if it was the last one', async () => {
    const { infraId, runIds } = await cluster.submit(1, {})
    await using _loops = cluster.loops()
    const { details } = await cluster.untilInfra(infraId, isReady)
    await cluster.cloud.vanish(details[0]?.name ?? '')
    const infra = await cluster.untilInfra(infraId, isEnded)
    expect(infra.message).toBe('no machine is left: the provider does not have it any more')
    await cluster.untilRun(runIds[0] ?? 0, ({ status }) => status === 'failed')
  })
})
