import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { CloudInfra } from '@scanfarm/contracts'
import { connectSuperuser } from '@scanfarm/store/testing'
import type { CloudProvider } from '../../src/provider.ts'
import { openTestCluster, type TestCluster } from './test-cluster.ts'

/** Passes of the process that crashes: enough to create a machine, and to destroy it. */
const ATTEMPTS = 3
const MOST_CALLS = 60
const DEADLINE_MS = 60_000

let cluster: TestCluster
/** One connection for all passes: a new one compiles the SQL functions again. */
let database: Awaited<ReturnType<typeof connectSuperuser>>
beforeAll(async () => {
  cluster = await openTestCluster()
  database = await connectSuperuser(cluster.db.url)
})
afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await cluster[Symbol.asyncDispose]()
})

/** Counts calls to the database and the provider, and crashes before one of them, which is after the one before it. */
class Death {
  happened = false
  #calls = 0
  readonly #at: number

  constructor(at: number) {
    this.#at = at
  }

  around<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (from, name) => {
        const value: unknown = Reflect.get(from, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]): Promise<unknown> =>
          this.#call(async () => Reflect.apply(value, from, args) as unknown)
      },
    })
  }

  async #call(call: () => Promise<unknown>): Promise<unknown> {
    this.#calls += 1
    if (this.happened) throw new Error('this process is dead')
    if (this.#calls === this.#at) {
      this.happened = true
      throw new Error('this process dies')
    }
    return await call()
  }
}

/** Expires the lease and marks the infrastructure as due. */
const free = (infraId: string) =>
  database.query(
    `update cloud_infras set owner_until = null, due_at = now() where closed_at is null and infra_id = $1`,
    [infraId],
  )

async function reconcileAndDie(infraId: string, death: Death): Promise<void> {
  const provider: CloudProvider = death.around(cluster.cloud)
  for (let attempts = 0; attempts < ATTEMPTS && !death.happened; attempts += 1) {
    await free(infraId)
    const store = death.around(cluster.store.cloud)
    // A crashed process cannot release its lease.
    await cluster
      .reconcile({ store, providers: { get: async () => provider }, owner: 'dying' })
      .catch(() => {})
  }
}

async function reconcileUntil(infraId: string, what: (infra: CloudInfra) => boolean): Promise<CloudInfra> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const infra = await cluster.infra(infraId)
    if (what(infra)) return infra
    if (performance.now() > deadline) throw new Error(`it stays ${JSON.stringify(infra)}`)
    await free(infraId)
    await cluster.reconcile({ owner: 'next' })
  }
}

const isMade = ({ details }: CloudInfra): boolean =>
  details.every(({ status }) => status === 'booting' || status === 'ready')
const isOver = ({ status, details }: CloudInfra): boolean =>
  status === 'destroyed' && details.every((one) => one.status === 'destroyed' || one.status === 'failed')

/** False: the pass ended before that call. */
async function dieWhileMaking(call: number): Promise<boolean> {
  const { infra_id: id } = await cluster.request()
  const death = new Death(call)
  const before = cluster.cloud.createCalls
  await reconcileAndDie(id, death)
  const made = await reconcileUntil(id, isMade)
  expect(cluster.cloud.createCalls - before).toBe(1)
  expect(cluster.cloud.names).toEqual([made.details[0]?.name])
  await cluster.store.cloud.drain(id, 'enough')
  await reconcileUntil(id, isOver)
  expect(cluster.cloud.names).toEqual([])
  return death.happened
}

async function dieWhileDestroying(call: number): Promise<boolean> {
  const { infra_id: id } = await cluster.request()
  await reconcileUntil(id, isMade)
  await cluster.store.cloud.drain(id, 'enough')
  const death = new Death(call)
  await reconcileAndDie(id, death)
  await reconcileUntil(id, isOver)
  expect(cluster.cloud.names).toEqual([])
  return death.happened
}

test('A process that crashes between any of its calls while it creates a machine leaves one machine, which is destroyed', async () => {
  let call = 1
  while (await dieWhileMaking(call)) call += 1
  expect(call).toBeGreaterThan(10)
  expect(call).toBeLessThan(MOST_CALLS)
}, 300_000)

test('A process that crashes between any of its calls while it destroys a machine leaves nothing', async () => {
  let call = 1
  while (await dieWhileDestroying(call)) call += 1
  expect(call).toBeGreaterThan(5)
  expect(call).toBeLessThan(MOST_CALLS)
}, 300_000)
