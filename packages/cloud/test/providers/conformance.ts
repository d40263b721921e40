import { describe, expect, jest, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import type { CallLimits } from '../../src/providers/calls.ts'
import { createKeyPair } from '../../src/machine/ssh-keys.ts'
import { renderUserData } from '../../src/machine/user-data.ts'
import { CloudError, type CloudProvider, type Machine, type MachineRequest } from '../../src/provider.ts'

export type Sort = 'read' | 'create' | 'destroy'

/** A fault of the fake in one call. */
export type Fault =
  /** 429 with a delay in seconds. */
  | { readonly kind: 'throttled'; readonly afterS: number }
  /** 500 without an effect. */
  | { readonly kind: 'broken' }
  /** The call takes effect, and the connection is closed before the response. */
  | { readonly kind: 'cut' }
  /** The call takes effect, and there is no response. */
  | { readonly kind: 'silent' }
  /** The quota is exceeded. */
  | { readonly kind: 'quota' }
  /** No machine of the kind is available. */
  | { readonly kind: 'capacity' }
  /** The credentials are not valid any more. */
  | { readonly kind: 'denied' }

/** A provider and the fake of its cloud, without machines. */
export interface World extends AsyncDisposable {
  /** With the limits of the world. */
  readonly provider: CloudProvider
  /** Queues a fault for the next call of this sort. */
  fault(sort: Sort, fault: Fault): void
  /** Names of machines that exist or are being created. */
  there(): Promise<string[]> | string[]
  /** The create request of the machine, with decoded `userData`. */
  createRequest(name: string): Promise<CreateRequest> | CreateRequest
  /** Create calls that reached the cloud, including refused ones. */
  creates(): number
  /** Adds machines with the label of this farm. */
  plant(count: number, farm: string): Promise<void> | void
  /** Deviations of requests and responses from the provider's API description; expected to be empty. */
  violations(): readonly string[]
}

export interface CreateRequest {
  readonly userData: string
}

export interface Facts {
  readonly region: string
  readonly type: string
  /** The fake's price of the kind in US dollars an hour; undefined if the provider has no prices. */
  readonly price: number | undefined
  /** Number of machines that need more than one page. */
  readonly pages: number
  readonly spot: 'refused' | 'offered'
  /** Parts of the fake's error messages. */
  readonly words: { readonly quota: string; readonly capacity: string }
  /** Faults that the fake does not support. */
  readonly cannot?: readonly Fault['kind'][]
}

/** Long time limits, so that no response is too late on a busy host. */
export const CALL_LIMITS = { timeoutMs: 60_000, firstWaitMs: 10 } as const
/** Short time limits, for calls without a response. */
export const IMPATIENT: CallLimits = { timeoutMs: 1_000, firstWaitMs: 10 }

export const FARM = 'f0e1d2c3b4a59687'
export const OTHER_FARM = '00000000deadbeef'
const EXPIRES = 1_900_000_000
const SETTLED_MS = 60_000
const PUBLIC_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ1v9nqU0hUuG6Yf0K8vJm1Yb8gKk3C1y8T1mM0l0eYw farm'
const USER_DATA = renderUserData({
  user: 'scanfarm',
  publicKey: PUBLIC_KEY,
  hostKey: createKeyPair('host'),
  tools: [],
  commands: ['echo ünï'],
})

export const signal = (): AbortSignal => AbortSignal.timeout(SETTLED_MS)

export const machineRequest = (
  region: string,
  type: string,
  over: Partial<MachineRequest> = {},
): MachineRequest => ({
  name: 'scanfarm-0123456789abcdef-1',
  labels: { farm: FARM, infra: '0123456789abcdef', expires: EXPIRES },
  region,
  type,
  spot: false,
  userData: USER_DATA,
  sshUser: 'scanfarm',
  publicKey: PUBLIC_KEY,
  ...over,
})

/** The behaviour of every provider. */
export function providerConformance(
  title: string,
  open: (limits: CallLimits) => Promise<World>,
  facts: Facts,
): void {
  jest.setTimeout(2 * SETTLED_MS)
  const request = (over?: Partial<MachineRequest>) => machineRequest(facts.region, facts.type, over)
  const can = (kind: Fault['kind']) => !facts.cannot?.includes(kind)

  /** A world for one test, which fails if the fake found a deviation. */
  const inWorld =
    (story: (world: World) => Promise<void>, limits: CallLimits = CALL_LIMITS) =>
    async () => {
      await using world = await open(limits)
      await story(world)
      expect(world.violations()).toEqual([])
    }

  const limitMs = SETTLED_MS
  const described = (
    provider: CloudProvider,
    id: string,
    good: (machine: Machine | undefined) => boolean,
  ): Promise<Machine | undefined> => until(() => provider.describe(id, signal()), good, { limitMs })
  const listed = (provider: CloudProvider, good: (machines: Machine[]) => boolean): Promise<Machine[]> =>
    until(() => provider.list(FARM, signal()), good, { limitMs })
  const gone = (machine: Machine | undefined) => machine === undefined || machine.state === 'gone'

  describe(`${title}, as every provider`, () => {
    test(
      'accepts valid credentials without creating anything',
      inWorld(async ({ provider, there, creates }) => {
        await provider.check(signal())
        expect(await there()).toEqual([])
        expect(creates()).toBe(0)
      }),
    )

    test(
      'creates a machine that gets an address, keeps its labels and is listed',
      inWorld(async ({ provider, createRequest }) => {
        const asked = request()
        const made = await provider.create(asked, signal())
        expect(made).toMatchObject({ name: asked.name, labels: asked.labels })
        expect(['starting', 'running']).toContain(made.state)
        expect((await createRequest(asked.name)).userData).toBe(asked.userData)

        const running = await described(
          provider,
          made.id,
          (machine) => machine?.state === 'running' && machine.address !== undefined,
        )
        expect(running).toMatchObject({ id: made.id, name: asked.name, labels: asked.labels, port: 22 })
        expect(running?.address).toMatch(/^[0-9a-f.:]+$/)

        const [found, ...others] = await listed(provider, (machines) => machines.length > 0)
        expect(found).toMatchObject({ id: made.id, name: asked.name, labels: asked.labels })
        expect(others).toEqual([])
      }),
    )

    test(
      'destroys a machine completely, and accepts a second destroy',
      inWorld(async ({ provider, there }) => {
        const { id, name } = await provider.create(request(), signal())
        await listed(provider, (machines) => machines.some((machine) => machine.name === name))
        await provider.destroy(id, signal())
        await described(provider, id, gone)
        await listed(provider, (machines) => machines.every(gone))
        expect(await there()).toEqual([])
        await provider.destroy(id, signal())
        expect(gone(await provider.describe(id, signal()))).toBe(true)
      }),
    )

    test(
      'lists all pages of the machines of one farm and none of another',
      inWorld(async ({ provider, plant }) => {
        await plant(facts.pages, FARM)
        await plant(2, OTHER_FARM)
        const machines = await listed(provider, ({ length }) => length >= facts.pages)
        expect(new Set(machines.map(({ name }) => name)).size).toBe(facts.pages)
        expect(machines).toHaveLength(facts.pages)
        expect(machines.every(({ labels }) => labels.farm === FARM)).toBe(true)
        expect(await provider.list('1111111111111111', signal())).toEqual([])
      }),
    )

    test(
      'creates several machines concurrently, each with its own name',
      inWorld(async ({ provider, there }) => {
        const names = [1, 2, 3].map((n) => `scanfarm-0123456789abcdef-${n}`)
        const made = await Promise.all(names.map((name) => provider.create(request({ name }), signal())))
        expect(made.map(({ name }) => name)).toEqual(names)
        expect(new Set(made.map(({ id }) => id)).size).toBe(3)
        expect([...(await there())].sort()).toEqual(names)
      }),
    )

    if (facts.spot === 'offered')
      test(
        'creates a spot machine',
        inWorld(async ({ provider, there }) => {
          expect(await provider.create(request({ spot: true }), signal())).toMatchObject({
            name: request().name,
          })
          expect(await there()).toHaveLength(1)
        }),
      )
    else
      test(
        'refuses a spot machine without calling the API',
        inWorld(async ({ provider, creates }) => {
          await expect(provider.create(request({ spot: true }), signal())).rejects.toMatchObject({
            problem: 'refused',
            message: `${provider.name} has no spot machines: leave out cloud_use_spot`,
          })
          expect(creates()).toBe(0)
        }),
      )

    test(
      'knows prices of its kinds and none of unknown kinds',
      inWorld(async ({ provider }) => {
        const kind = { region: facts.region, type: facts.type, spot: false }
        const price = await provider.price(kind, signal())
        if (facts.price === undefined) expect(price).toBeUndefined()
        else expect(price).toBeCloseTo(facts.price, 6)
        expect(await provider.price({ ...kind, type: 'no-such-type' }, signal())).toBeUndefined()
      }),
    )

    test(
      'rejects with the reason of the signal when it aborts',
      inWorld(async ({ provider, fault }) => {
        const reason = new Error('enough')
        await expect(provider.list(FARM, AbortSignal.abort(reason))).rejects.toBe(reason)
        if (!can('silent')) return
        fault('read', { kind: 'silent' })
        const stop = new AbortController()
        const listing = provider.list(FARM, stop.signal)
        stop.abort(reason)
        await expect(listing).rejects.toBe(reason)
      }),
    )
  })

  describe(`${title}, when its cloud misbehaves`, () => {
    const withFault = (kind: Fault['kind'], says: string, story: (world: World) => Promise<void>): void => {
      if (can(kind)) test(`${says} (${kind})`, inWorld(story, kind === 'silent' ? IMPATIENT : CALL_LIMITS))
    }

    withFault('throttled', 'waits as long as it is told and asks again when it reads', async (world) => {
      world.fault('read', { kind: 'throttled', afterS: 1 })
      const start = performance.now()
      expect(await world.provider.list(FARM, signal())).toEqual([])
      expect(performance.now() - start).toBeGreaterThan(900)
    })

    withFault('throttled', 'passes on a wish to be left alone for long', async ({ provider, fault }) => {
      fault('read', { kind: 'throttled', afterS: 3_600 })
      const error = await provider.list(FARM, signal()).catch((caught: unknown) => caught)
      expect(error).toMatchObject({ name: 'CloudError', problem: 'unavailable' })
      expect(error instanceof CloudError && error.retryAfterMs).toBeGreaterThan(3_500_000)
    })

    withFault('broken', 'asks again when a read or a destroy breaks', async ({ provider, fault, there }) => {
      const { id } = await provider.create(request(), signal())
      fault('read', { kind: 'broken' })
      fault('read', { kind: 'broken' })
      await described(provider, id, (machine) => machine?.state === 'running')
      fault('destroy', { kind: 'broken' })
      await provider.destroy(id, signal())
      await described(provider, id, gone)
      expect(await there()).toEqual([])
    })

    withFault('broken', 'never repeats a create', async ({ provider, fault, creates, there }) => {
      fault('create', { kind: 'broken' })
      await expect(provider.create(request(), signal())).rejects.toMatchObject({ problem: 'unavailable' })
      expect(creates()).toBe(1)
      expect(await there()).toEqual([])
    })

    withFault(
      'throttled',
      'reports the delay after a throttled create',
      async ({ provider, fault, creates }) => {
        fault('create', { kind: 'throttled', afterS: 7 })
        const error = await provider.create(request(), signal()).catch((caught: unknown) => caught)
        expect(error).toMatchObject({ name: 'CloudError', problem: 'unavailable', retryAfterMs: 7_000 })
        expect(creates()).toBe(1)
      },
    )

    for (const kind of ['cut', 'silent'] as const)
      withFault(
        kind,
        `finds a machine whose answer was ${kind === 'cut' ? 'cut off' : 'never sent'}`,
        async (world) => {
          const { provider } = world
          world.fault('create', { kind })
          await expect(provider.create(request(), signal())).rejects.toMatchObject({ problem: 'unavailable' })
          expect(world.creates()).toBe(1)
          const [found] = await listed(provider, ({ length }) => length > 0)
          expect(found).toMatchObject({ name: request().name, labels: request().labels })
          await provider.destroy(found?.id ?? '', signal())
          await listed(provider, (machines) => machines.every(gone))
          expect(await world.there()).toEqual([])
        },
      )

    withFault('quota', 'says in the words of the provider that the account is full', async (world) => {
      world.fault('create', { kind: 'quota' })
      await expect(world.provider.create(request(), signal())).rejects.toMatchObject({
        problem: 'refused',
        message: expect.stringContaining(facts.words.quota),
      })
      expect(await world.there()).toEqual([])
    })

    withFault('capacity', 'says in the words of the provider that nothing is free', async (world) => {
      world.fault('create', { kind: 'capacity' })
      await expect(world.provider.create(request(), signal())).rejects.toMatchObject({
        problem: 'capacity',
        message: expect.stringContaining(facts.words.capacity),
      })
      expect(await world.there()).toEqual([])
    })

    withFault('denied', 'tells bad credentials from everything else, and does not insist', async (world) => {
      const { provider, fault } = world
      fault('read', { kind: 'denied' })
      await expect(provider.check(signal())).rejects.toMatchObject({ problem: 'credentials' })
      fault('read', { kind: 'denied' })
      await expect(provider.list(FARM, signal())).rejects.toMatchObject({ problem: 'credentials' })
      fault('create', { kind: 'denied' })
      await expect(provider.create(request(), signal())).rejects.toMatchObject({ problem: 'credentials' })
      expect(await world.there()).toEqual([])
    })
  })
}
