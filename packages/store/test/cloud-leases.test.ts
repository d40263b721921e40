import { beforeEach, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { bringUp, cloudJob, recordOf, request } from './cloud-fixtures.ts'
import { testDatabase } from './database.ts'
import { ended, joined, submitted, targets, wipe } from './fixtures.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() => wipe(db.url))
const LONG_MS = 60_000
const take = (owner = 'a', leaseMs = LONG_MS) => db.store.cloud.acquire(owner, leaseMs)

describe('leases of infrastructures', () => {
  test('One server at a time holds the lease of an infrastructure; each server acquires another infrastructure', async () => {
    const ids = await Promise.all(Array.from({ length: 4 }, async () => (await request(db.store)).infra_id))
    const taken = await Promise.all(['a', 'b', 'c', 'd', 'e', 'f'].map((owner) => take(owner)))
    const held = taken.flatMap((one) => (one ? [one.infraId] : []))
    expect(held.sort()).toEqual(ids.sort())
    expect(await take()).toBeUndefined()
  })

  test('A lease is returned with the whole record of its infrastructure', async () => {
    const { infra_id: infraId, expires_at: expiresAt } = await request(db.store, {
      instances: 1,
      useSpot: true,
    })
    expect(await take()).toEqual({
      no: expect.any(Number),
      infraId,
      status: 'requested',
      provider: 'local',
      region: 'here',
      instanceType: 'small',
      useSpot: true,
      autoDestroy: false,
      tools: ['nmap'],
      expiresAt,
      expired: false,
      workDone: false,
      message: '',
      sshUser: '',
      privateKey: '',
      publicKey: '',
      instances: [
        {
          no: expect.any(Number),
          name: `scanfarm-${infraId}-1`,
          status: 'requested',
          resourceId: '',
          address: '',
          port: 22,
          message: '',
          hostKeyPrivate: '',
          hostKey: '',
          createdAt: expect.any(String),
          createStartedMsAgo: null,
        },
      ],
    })
  })

  test('An expired lease passes to another server, and the first server cannot renew it', async () => {
    await request(db.store)
    const mine = await take('a', 20)
    let theirs: typeof mine
    await until(async () => (theirs = await take('b')) !== undefined)
    expect(theirs?.no).toBe(mine?.no)
    const no = mine?.no ?? 0
    expect(await db.store.cloud.renew(no, 'a', LONG_MS)).toBeUndefined()
    await db.store.cloud.release(no, 'a', 0)
    expect(await take('c')).toBeUndefined()
    expect(await db.store.cloud.renew(no, 'b', LONG_MS)).toMatchObject({ no })
  })

  test('A server holds a lease as long as it renews it', async () => {
    await request(db.store)
    const { no } = (await take()) ?? { no: 0 }
    expect(await db.store.cloud.renew(no, 'a', 3 * LONG_MS)).toMatchObject({ no })
    const { rows } = await db.sql(`select owner, owner_until - now() > interval '${LONG_MS} ms' as renewed
      from cloud_infras`)
    expect(rows).toEqual([{ owner: 'a', renewed: true }])
    expect(await take('b')).toBeUndefined()
  })

  test('A released infrastructure is due again after the time given at its release', async () => {
    await request(db.store)
    const { no } = (await take()) ?? { no: 0 }
    await db.store.cloud.release(no, 'a', LONG_MS)
    expect(await take()).toBeUndefined()
    await db.sql(`update cloud_infras set due_at = now()`)
    expect(await take()).toMatchObject({ no })
    await db.store.cloud.release(no, 'a', 0)
    expect(await take()).toMatchObject({ no })
  })

  test.each<[string, (ready: Awaited<ReturnType<typeof cloudJob>>) => Promise<unknown>]>([
    ['its destruction is requested', ({ infraId }) => db.store.cloud.drain(infraId, 'enough')],
    ['a machine is lost', ({ instances }) => db.store.cloud.loseInstance(instances[0]?.no ?? 0, 'gone')],
    [
      'a job is bound to it',
      ({ infraId }) => submitted(db.store, { runMode: 'cloud' }, targets(1), { cloud: { reuse: infraId } }),
    ],
    [
      'the last run of a job ends',
      async () => {
        const server = await joined(db.store.runStore, { kind: 'server' })
        const [run] = await db.store.runStore.claimCloud(server, 1)
        if (run) await db.store.runStore.finish([ended(run)])
      },
    ],
    ['its waiting run is cancelled', ({ runIds }) => db.store.runs.requestCancel(String(runIds[0]))],
  ])('An infrastructure is due at once when %s, during a lease and after it', async (_what, change) => {
    for (const when of ['held', 'released']) {
      await wipe(db.url)
      const ready = await cloudJob(db.store, { infra: { autoDestroy: true } })
      await take()
      if (when === 'released') await db.store.cloud.release(ready.no, 'a', LONG_MS)
      expect(await take()).toBeUndefined()
      const notified = Promise.withResolvers<void>()
      let listening = false
      await using _listener = await db.store.listen(() => {
        if (listening) notified.resolve()
      })
      listening = true
      await change(ready)
      if (when === 'held') await db.store.cloud.release(ready.no, 'a', LONG_MS)
      await notified.promise
      expect(await take()).toMatchObject({ no: ready.no })
    }
  })
})

describe('keys of infrastructures', () => {
  test('Keys of an infrastructure are stored once, for the reconciler, and are in no API response', async () => {
    const { infra_id: infraId } = await request(db.store, { instances: 1 })
    const { no, instances } = await recordOf(db.store, infraId)
    const instanceNo = instances[0]?.no ?? 0
    for (const n of [1, 2]) {
      await db.store.cloud.setKey(no, {
        sshUser: 'scan',
        privateKey: `secret ${n}`,
        publicKey: `public ${n}`,
      })
      await db.store.cloud.setHostKey(instanceNo, { privateKey: `secret ${n}`, publicKey: `public ${n}` })
    }
    expect(await recordOf(db.store, infraId)).toMatchObject({
      sshUser: 'scan',
      privateKey: 'secret 1',
      publicKey: 'public 1',
      instances: [{ hostKeyPrivate: 'secret 1', hostKey: 'public 1' }],
    })
    const seen = [await db.store.cloud.find(infraId), await db.store.cloud.list({}, { offset: 0, limit: 9 })]
    expect(JSON.stringify(seen)).not.toContain('secret')
  })

  test('Host keys are deleted when the machine is ready, and the key of an infrastructure after its last machine', async () => {
    const { infra_id: infraId } = await request(db.store)
    const { no, instances } = await bringUp(db.store, infraId)
    const secrets = async () =>
      (
        await db.sql(`select f.private_key, i.host_key_private, i.host_key
                   from cloud_infras f join cloud_instances i on i.infra_no = f.id order by i.id`)
      ).rows
    expect(await secrets()).toMatchObject([
      { private_key: 'secret of infra', host_key_private: '', host_key: 'ssh-ed25519 HOST0' },
      { host_key_private: '', host_key: 'ssh-ed25519 HOST1' },
    ])
    expect(await db.store.cloud.moveInfra(no, 'failed', 'no machine is left')).toBe(true)
    for (const { no: instance } of instances) {
      expect((await secrets())[0]).toMatchObject({ private_key: 'secret of infra' })
      expect(await db.store.cloud.moveInstance(instance, 'destroying', {})).toBe(true)
      expect(await db.store.cloud.moveInstance(instance, 'destroyed', {})).toBe(true)
    }
    expect(await secrets()).toMatchObject([{ private_key: '' }, { private_key: '' }])
    expect(await take()).toBeUndefined()
  })
})

describe('rows of machines', () => {
  test('Only the owner of the lease can mark the start of a create call, and only while provisioning', async () => {
    const { infra_id: infraId } = await request(db.store, { instances: 1 })
    const { no, instances } = (await take()) ?? { no: 0, instances: [] }
    const machine = instances[0]?.no ?? 0
    expect(await db.store.cloud.markCreateStarted(machine, 'a')).toBe(false)
    await db.store.cloud.moveInfra(no, 'provisioning', '')
    expect(await db.store.cloud.markCreateStarted(machine, 'b')).toBe(false)
    expect((await db.store.cloud.renew(no, 'a', LONG_MS))?.instances[0]?.createStartedMsAgo).toBeNull()
    expect(await db.store.cloud.markCreateStarted(machine, 'a')).toBe(true)
    const { createStartedMsAgo } = (await db.store.cloud.renew(no, 'a', LONG_MS))?.instances[0] ?? {}
    expect(createStartedMsAgo).toBeGreaterThanOrEqual(0)
    expect(createStartedMsAgo).toBeLessThan(LONG_MS)
    await db.store.cloud.setInstanceMessage(machine, 'the quota is used up, trying again')
    expect((await db.store.cloud.find(infraId))?.details).toMatchObject([
      { status: 'requested', message: 'the quota is used up, trying again' },
    ])
    await db.store.cloud.moveInstance(machine, 'booting', { resourceId: 'vm-1' })
    expect(await db.store.cloud.markCreateStarted(machine, 'a')).toBe(false)
  })

  test('A machine is wanted as long as its row is in use', async () => {
    const { infra_id: infraId } = await request(db.store, { instances: 4 })
    const { instances } = await recordOf(db.store, infraId)
    const [a, b, c, d] = instances
    await db.store.cloud.moveInstance(b?.no ?? 0, 'booting', { resourceId: 'vm' })
    await db.store.cloud.moveInstance(c?.no ?? 0, 'failed', { message: 'refused' })
    await db.store.cloud.moveInstance(d?.no ?? 0, 'destroying', {})
    const names = instances.map((one) => one.name)
    expect(await db.store.cloud.filterWanted([...names, 'stranger', 'a\0b'])).toEqual([a?.name, b?.name])
    expect(await db.store.cloud.countMachines()).toEqual([
      { provider: 'local', status: 'booting', count: 1 },
      { provider: 'local', status: 'destroying', count: 1 },
      { provider: 'local', status: 'requested', count: 1 },
    ])
    expect(await db.store.cloud.providersInUse()).toEqual(['local'])
    await db.store.cloud.drain(infraId, 'enough')
    expect(await db.store.cloud.filterWanted(names)).toEqual([])
    expect(await db.store.cloud.providersInUse()).toEqual(['local'])
  })

  test('One server at a time looks for orphaned machines of a provider', async () => {
    await db.sql('delete from cloud_reaps')
    const turns = await Promise.all(
      Array.from({ length: 6 }, () => db.store.cloud.tryAcquireReaperTurn('aws', LONG_MS)),
    )
    expect(turns.filter(Boolean)).toHaveLength(1)
    expect(await db.store.cloud.tryAcquireReaperTurn('gcp', LONG_MS)).toBe(true)
    expect(await db.store.cloud.tryAcquireReaperTurn('aws', 0)).toBe(true)
  })
})
