import { describe, expect, test } from '@jest/globals'
import { inspect } from 'node:util'
import type { CloudProvider, Machine, MachineRequest } from '../../src/provider.ts'
import type { CallLimits } from '../../src/providers/calls.ts'
import { CALL_LIMITS, FARM, IMPATIENT, signal, type World } from './conformance.ts'
import type { Answer } from './fake-api.ts'
import type { MachineApi } from './fake-machines.ts'

/** The settings that tests vary. */
export interface Varied {
  readonly token?: string | undefined
  readonly endpoint?: string
  readonly image?: string
  readonly privateAddress?: boolean
}

export type RestWorld = MachineApi & World

/** `open` opens a fake API with a provider that uses it; `make` only a provider. Both start from these settings. */
export const restProviders = <Settings extends object>(
  create: (settings: Settings, limits: CallLimits) => CloudProvider,
  openFake: () => Promise<MachineApi>,
  settings: NoInfer<Settings>,
) => {
  const make = (over: Partial<Settings> & Varied, limits: CallLimits = CALL_LIMITS): CloudProvider =>
    create({ ...settings, ...over }, limits)
  const open = async (over: Partial<Settings> & Varied = {}, limits?: CallLimits): Promise<RestWorld> => {
    const cloud = await openFake()
    const provider = make({ endpoint: cloud.url, ...over }, limits)
    return {
      ...cloud,
      provider,
      async [Symbol.asyncDispose]() {
        await provider[Symbol.asyncDispose]()
        await cloud[Symbol.asyncDispose]()
      },
    }
  }
  return { make, open }
}

/** Creates a machine and reads it until it runs. */
export const started = async ({ provider }: World, request: MachineRequest): Promise<Machine> => {
  const { id } = await provider.create(request, signal())
  for (;;) {
    const machine = await provider.describe(id, signal())
    if (machine?.state === 'running') return machine
    expect(machine?.state).toBe('starting')
  }
}

export interface RestFacts {
  open(over?: Varied, limits?: CallLimits): Promise<RestWorld>
  make(over: Varied): CloudProvider
  readonly token: string
  readonly request: MachineRequest
  /** API version in the path, which operators may append to the endpoint. */
  readonly version: string
  /** Part of the fake's error message about an unknown image. */
  readonly badImage: string
  /** The provider's response to too many requests. */
  readonly limited: unknown
  readonly addresses: {
    readonly public: string
    /** Reported instead, if so configured. */
    readonly private?: string
    /** What the API says about a machine without a public IPv4 address. */
    readonly onlyIpv6: Readonly<Record<string, unknown>>
    readonly ipv6: string
  }
  /** What the provider would refuse in a request, and a part of the reason. */
  readonly invalid: Partial<MachineRequest>
  readonly whyInvalid: string
  /** Part of the provider's error about a name that another machine has; missing: names may repeat. */
  readonly duplicate?: string
  /** The provider's response while a machine cannot be destroyed yet. */
  readonly busy?: Answer
}

/** Further behaviour of the three providers with API tokens. */
export function restProviderConformance(title: string, facts: RestFacts): void {
  const caught = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

  describe(`${title}, over its API`, () => {
    test('names the missing token setting without calling the API', async () => {
      await using world = await facts.open({ token: undefined })
      await expect(world.provider.check(signal())).rejects.toMatchObject({
        problem: 'credentials',
        message: expect.stringContaining(`cloud.${title}.token`),
      })
    })

    test('keeps the tokens and endpoints of two instances in one process apart', async () => {
      await using world = await facts.open()
      await using wrong = facts.make({ token: 'wrong', endpoint: world.url })
      await using elsewhere = await facts.open({ token: 'other' })
      const all = [world.provider, wrong, elsewhere.provider, world.provider, wrong, elsewhere.provider]
      const answers = await Promise.all(all.map((provider) => caught(provider.check(signal()))))
      const refused = expect.objectContaining({ problem: 'credentials' })
      expect(answers).toEqual([undefined, refused, refused, undefined, refused, refused])
      await world.provider.create(facts.request, signal())
      expect(world.there()).toEqual([facts.request.name])
      expect(elsewhere.there()).toEqual([])
    })

    test('accepts an endpoint with or without the version', async () => {
      await using world = await facts.open()
      for (const end of ['/', facts.version, `${facts.version}/`]) {
        await using provider = facts.make({ token: facts.token, endpoint: `${world.url}${end}` })
        await provider.check(signal())
      }
      expect(world.violations()).toEqual([])
    })

    test('reports an endpoint that refuses connections', async () => {
      const world = await facts.open()
      await world[Symbol.asyncDispose]()
      await expect(world.provider.create(facts.request, signal())).rejects.toMatchObject({
        problem: 'unavailable',
        message: expect.stringContaining('ECONNREFUSED'),
      })
    })

    test('reads prices once an hour', async () => {
      await using world = await facts.open()
      const { region, type } = facts.request
      const price = await world.provider.price({ region, type, spot: false }, signal())
      for (let read = 0; read < 9; read++) world.fault('read', { kind: 'broken' })
      expect(await world.provider.price({ region, type, spot: false }, signal())).toBe(price)
    })

    test('reports the error of the provider for an unknown image', async () => {
      await using world = await facts.open({ image: 'no-such-image' })
      await expect(world.provider.create(facts.request, signal())).rejects.toMatchObject({
        problem: 'refused',
        message: expect.stringContaining(facts.badImage),
      })
    })

    test('keeps the token out of error messages', async () => {
      for (const kind of ['cut', 'quota', 'silent'] as const) {
        await using world = await facts.open({}, kind === 'silent' ? IMPATIENT : undefined)
        world.fault('create', { kind })
        const error = await caught(world.provider.create(facts.request, signal()))
        expect(error).toMatchObject({ name: 'CloudError' })
        expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(facts.token)
      }
    })

    test('respects the header with the reset time of the rate limit', async () => {
      await using world = await facts.open()
      const inAnHour = String(Math.ceil(Date.now() / 1_000) + 3_600)
      const headers = { 'ratelimit-reset': inAnHour }
      world.answerNext('read', { status: 429, body: facts.limited, headers })
      const error = await caught(world.provider.list(FARM, signal()))
      expect(error).toMatchObject({ problem: 'unavailable' })
      expect(Reflect.get(Object(error), 'retryAfterMs')).toBeGreaterThan(3_590_000)
    })

    test('gives up after several 503 responses', async () => {
      await using world = await facts.open()
      for (let read = 0; read < 4; read++) world.answerNext('read', { status: 503, body: facts.limited })
      world.answerNext('read', { status: 418, body: facts.limited })
      await expect(world.provider.list(FARM, signal())).rejects.toMatchObject({
        problem: 'unavailable',
        message: expect.stringContaining('503'),
      })
    })

    test('reports the public address, the private one if configured, and the IPv6 address if there is no other', async () => {
      const { addresses, request } = facts
      await using world = await facts.open()
      const { id, address } = await started(world, request)
      expect(address).toBe(addresses.public)
      world.set(request.name, addresses.onlyIpv6)
      expect(await world.provider.describe(id, signal())).toMatchObject({ address: addresses.ipv6 })
      if (addresses.private === undefined) return
      await using inside = await facts.open({ privateAddress: true })
      expect(await started(inside, request)).toMatchObject({ address: addresses.private })
    })

    test('refuses an invalid request without calling the API', async () => {
      await using world = await facts.open()
      const request = { ...facts.request, ...facts.invalid }
      await expect(world.provider.create(request, signal())).rejects.toMatchObject({
        problem: 'refused',
        message: expect.stringContaining(facts.whyInvalid),
      })
      expect(world.creates()).toBe(0)
    })

    const { duplicate, busy } = facts
    if (duplicate !== undefined)
      test('treats a duplicate name as an unknown outcome, because the machine may exist', async () => {
        await using world = await facts.open()
        await world.provider.create(facts.request, signal())
        await expect(world.provider.create(facts.request, signal())).rejects.toMatchObject({
          problem: 'unavailable',
          message: expect.stringContaining(duplicate),
        })
        expect(world.there()).toEqual([facts.request.name])
      })

    if (busy !== undefined)
      test('retries destroy while the machine is busy', async () => {
        await using world = await facts.open()
        const { id } = await world.provider.create(facts.request, signal())
        world.answerNext('destroy', busy)
        await world.provider.destroy(id, signal())
        expect(world.there()).toEqual([])
      })
  })
}
