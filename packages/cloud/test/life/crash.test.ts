import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { CloudInfra } from '@scanfarm/contracts'
import { asSuperuser } from '@scanfarm/store/testing'
import type { CloudProvider } from '../../src/provider.ts'
import { openFarm, type TestFarm } from './farm.ts'

/** Looks of the process that dies: enough for a machine to be made, and to be destroyed. */
const LOOKS = 3
const MOST_CALLS = 60
const DEADLINE_MS = 60_000

let farm: TestFarm
beforeAll(async () => {
  farm = await openFarm()
})
afterAll(async () => {
  await farm[Symbol.asyncDispose]()
})

/** Counts calls to database and provider, and dies at one of them: nothing is done any more. */
class Death {
  happened = false
  #calls = 0
  readonly #at: number
  readonly #when: 'before' | 'after'

  constructor(at: number, when: 'before' | 'after') {
    this.#at = at
    this.#when = when
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
    const isLast = this.#calls === this.#at
    if (isLast && this.#when === 'before') this.#die()
    const answer = await call()
    if (isLast) this.#die()
    return answer
  }

  #die(): never {
    this.happened = true
    throw new Error('this process dies')
  }
}

/** Whoever held it, it is free and due now. */
const free = (infraId: string) =>
  asSuperuser(
    (client) =>
      client.query(
        `update cloud_infras set owner_until = null, due_at = now() where closed_at is null and infra_id = $1`,
        [infraId],
      ),
    farm.db.url,
  )

async function lookAndDie(infraId: string, death: Death): Promise<void> {
  const provider: CloudProvider = death.around(farm.cloud)
  for (let looks = 0; looks < LOOKS && !death.happened; looks += 1) {
    await free(infraId)
    const store = death.around(farm.store.cloud)
    // Its last words: it cannot even give back what it holds.
    await farm.look({ store, providers: { get: async () => provider }, owner: 'dying' }).catch(() => {})
  }
}

async function lookUntil(infraId: string, what: (infra: CloudInfra) => boolean): Promise<CloudInfra> {
  const deadline = performance.now() + DEADLINE_MS
  for (;;) {
    const infra = await farm.infra(infraId)
    if (what(infra)) return infra
    if (performance.now() > deadline) throw new Error(`it stays ${JSON.stringify(infra)}`)
    await free(infraId)
    await farm.look({ owner: 'next' })
  }
}

const isMade = ({ details }: CloudInfra): boolean =>
  details.every(({ status }) => status === 'booting' || status === 'ready')
const isOver = ({ status, details }: CloudInfra): boolean =>
  status === 'destroyed' && details.every((one) => one.status === 'destroyed' || one.status === 'failed')

/** False: it did not even come to that call. */
async function dieWhileMaking(call: number, when: 'before' | 'after'): Promise<boolean> {
  const { infra_id: id } = await farm.request()
  const death = new Death(call, when)
  const before = farm.cloud.createCalls
  await lookAndDie(id, death)
  const made = await lookUntil(id, isMade)
  expect(farm.cloud.createCalls - before).toBe(1)
  expect(farm.cloud.names).toEqual([made.details[0]?.name])
  await farm.store.cloud.drain(id, 'enough')
  await lookUntil(id, isOver)
  expect(farm.cloud.names).toEqual([])
  return death.happened
}

async function dieWhileDestroying(call: number, when: 'before' | 'after'): Promise<boolean> {
  const { infra_id: id } = await farm.request()
  await lookUntil(id, isMade)
  await farm.store.cloud.drain(id, 'enough')
  const death = new Death(call, when)
  await lookAndDie(id, death)
  await lookUntil(id, isOver)
  expect(farm.cloud.names).toEqual([])
  return death.happened
}

for (const when of ['before', 'after'] as const) {
  const moment = `${when} any of its calls`
  test(`A process may die ${moment} while it makes a machine: it is made once and destroyed`, async () => {
    let call = 1
    while (await dieWhileMaking(call, when)) call += 1
    expect(call).toBeGreaterThan(10)
    expect(call).toBeLessThan(MOST_CALLS)
  }, 300_000)

  test(`A process may die ${moment} while it destroys a machine: nothing is left`, async () => {
    let call = 1
    while (await dieWhileDestroying(call, when)) call += 1
    expect(call).toBeGreaterThan(5)
    expect(call).toBeLessThan(MOST_CALLS)
  }, 300_000)
}
