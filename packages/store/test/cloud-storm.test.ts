import { expect, test } from '@jest/globals'
import { AppError } from '@scanfarm/contracts'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { cloudJob } from './cloud-fixtures.ts'
import { testDatabase } from './database.ts'
import { draft, ended, joined, keyOf, submitted, targets } from './fixtures.ts'

/** Actions of each concurrent task. */
const TURNS = 40
const LEASE_MS = 60_000

const db = forAllTests(() => testDatabase({ poolSize: 20 }))
const sql = async <T extends Readonly<Record<string, unknown>>>(text: string) => (await db.sql<T>(text)).rows

/** Pseudorandom with a fixed seed; the interleaving depends on the database. */
const makeDice = (seed: number) => (): number => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
  return seed / 2 ** 31
}

const claimRuns = async (seed: number): Promise<void> => {
  const dice = makeDice(seed)
  const { runStore } = db.store
  const server = await joined(runStore, { kind: 'server' })
  for (let turn = 0; turn < TURNS; turn++) {
    for (const run of await runStore.claimCloud(server, 4)) {
      const chance = dice()
      if (chance < 0.15) await runStore.handBack([keyOf(run)])
      else if (chance < 0.25) await db.store.runs.requestCancel(String(run.runId))
      else await runStore.finish([ended(run, chance < 0.5 ? 'failed' : 'completed')])
    }
  }
}

const reconcileInfras = async (owner: string): Promise<void> => {
  const { cloud } = db.store
  for (let turn = 0; turn < 2 * TURNS; turn++) {
    const infra = await cloud.acquire(owner, LEASE_MS)
    if (!infra) continue
    await cloud.bindRuns(infra.no, 20)
    if (infra.workDone) await cloud.moveInfra(infra.no, 'draining', 'done', { onlyWhenDone: true })
    await cloud.release(infra.no, owner, 0)
  }
}

type Ready = Awaited<ReturnType<typeof cloudJob>>

const disturb = async (seed: number, infras: readonly Ready[]): Promise<void> => {
  const dice = makeDice(seed)
  const { cloud, jobs, recovery } = db.store
  const stream = { count: 4, chunks: async function* () { yield targets(2); yield targets(2) } } // prettier-ignore
  for (let turn = 0; turn < TURNS; turn++) {
    const infra = infras[Math.floor(dice() * infras.length)]
    if (!infra) continue
    const choice = { cloud: { reuse: infra.infraId } }
    const actions = [
      () => submitted(db.store, { runMode: 'cloud', concurrency: 3 }, targets(4), choice),
      () => submitted(db.store, { runMode: 'cloud', priority: 'high' }, targets(2), choice),
      () => jobs.submit(draft({ runMode: 'cloud' }), stream, choice),
      () => jobs.expandOnce(),
      () => recovery.recountSlots(100),
      () => recovery.forceStaleCancels(0, 1_000),
      () => cloud.loseInstance(infra.instances[turn % infra.instances.length]?.no ?? 0, 'gone'),
      () => (turn > TURNS / 2 ? cloud.drain(infra.infraId, 'enough') : recovery.recountSlots(100)),
    ]
    await actions[Math.floor(dice() * actions.length)]?.().catch((error: unknown) => {
      if (!(error instanceof AppError && error.code === 'wrong_state')) throw error
    })
  }
}

test('Concurrent requests, claims, losses and ends leave no run behind', async () => {
  const infras: Ready[] = []
  for (const concurrency of [null, 5, null, 3]) {
    infras.push(await cloudJob(db.store, { runs: 12, draft: { concurrency }, infra: { instances: 3 } }))
  }
  await Promise.all([
    ...[1, 2, 3].map(claimRuns),
    ...['a', 'b'].map(reconcileInfras),
    ...[4, 5, 6].map((seed) => disturb(seed, infras)),
  ])

  const { cloud, jobs, runStore } = db.store
  while (await jobs.expandOnce());
  const server = await joined(runStore, { kind: 'server' })
  for (const { no } of infras) await cloud.bindRuns(no, 1_000)
  const bare = await sql<{ id: number }>(`select id::int from cloud_infras f where status = 'ready'
    and not exists (select from cloud_instances where infra_no = f.id and status = 'ready')`)
  for (const { id } of bare) await cloud.moveInfra(id, 'failed', 'no machine is left')
  await db.store.recovery.forceStaleCancels(0, 1_000)
  for (let runs = await runStore.claimCloud(server, 100); runs.length > 0;) {
    await runStore.finish(runs.map((run) => ended(run)))
    runs = await runStore.claimCloud(server, 100)
  }
  expect(await sql(`select id, status, instance_no from runs where completed_at is null`)).toEqual([])
  expect(await sql('select * from outbox')).toEqual([])
  expect(await sql('select * from slots')).toEqual([])
  expect(await sql('select deadlocks::int from pg_stat_database where datname = current_database()')).toEqual(
    [{ deadlocks: 0 }],
  )
})
