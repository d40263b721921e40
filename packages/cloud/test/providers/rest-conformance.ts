import { describe, expect, test } from '@jest/globals'
import { inspect } from 'node:util'
import type { CloudProvider, MachineRequest } from '../../src/provider.ts'
import type { CallLimits } from '../../src/providers/calls.ts'
import { IMPATIENT, type World } from './conformance.ts'
import type { StandIn } from './stand-in.ts'

/** What tests vary in the settings. */
export interface Varied {
  readonly token?: string | undefined
  readonly endpoint?: string
  readonly image?: string
  readonly prices?: Readonly<Record<string, number>>
}

export type RestWorld = World & StandIn

export interface RestFacts {
  open(over?: Varied, limits?: CallLimits): Promise<RestWorld>
  make(over: Varied): CloudProvider
  readonly token: string
  readonly request: MachineRequest
  /** Version of the API as a part of the path, which operators may write behind the endpoint. */
  readonly version: string
  /** In the words of the stand-in about an image that is none. */
  readonly badImage: string
  /** What the provider says when it was asked too often. */
  readonly limited: unknown
}

/** What clients of our three providers with plain tokens do besides. */
export function restProviderConformance(title: string, facts: RestFacts): void {
  const signal = () => AbortSignal.timeout(60_000)
  const caught = (call: Promise<unknown>): Promise<unknown> => call.catch((error: unknown) => error)

  describe(`${title}, over its API`, () => {
    test('names the setting when there is no token, and asks nobody', async () => {
      await using world = await facts.open({ token: undefined })
      await expect(world.provider.check(signal())).rejects.toMatchObject({
        problem: 'credentials',
        message: expect.stringContaining(`cloud.${title}.token`),
      })
    })

    test('never mixes the tokens and endpoints of two of them in one process', async () => {
      await using world = await facts.open()
      await using wrong = facts.make({ token: 'wrong', endpoint: world.url })
      await using elsewhere = await facts.open({ token: 'other' })
      const all = [world.provider, wrong, elsewhere.provider, world.provider, wrong, elsewhere.provider]
      const answers = await Promise.all(all.map((provider) => caught(provider.check(signal()))))
      const refused = expect.objectContaining({ problem: 'credentials' })
      expect(answers).toEqual([undefined, refused, refused, undefined, refused, refused])
      await world.provider.create(facts.request, signal())
      expect(await world.there()).toEqual([facts.request.name])
      expect(await elsewhere.there()).toEqual([])
    })

    test('takes an endpoint with or without the version', async () => {
      await using world = await facts.open()
      for (const end of ['/', facts.version, `${facts.version}/`]) {
        await using provider = facts.make({ token: facts.token, endpoint: `${world.url}${end}` })
        await provider.check(signal())
      }
      expect(world.violations()).toEqual([])
    })

    test('says that nobody listens at the endpoint', async () => {
      const world = await facts.open()
      await world[Symbol.asyncDispose]()
      await expect(world.provider.create(facts.request, signal())).rejects.toMatchObject({
        problem: 'unavailable',
        message: expect.stringContaining('ECONNREFUSED'),
      })
    })

    test("takes the operator's own price for it, without asking", async () => {
      await using provider = facts.make({
        endpoint: 'http://127.0.0.1:9',
        prices: { [facts.request.type]: 0.5 },
      })
      const { region, type } = facts.request
      expect(await provider.price({ region, type, spot: false }, signal())).toBe(0.5)
    })

    test('asks for prices once an hour', async () => {
      await using world = await facts.open()
      const { region, type } = facts.request
      const price = await world.provider.price({ region, type, spot: false }, signal())
      for (let read = 0; read < 9; read++) world.fault('read', { kind: 'broken' })
      expect(await world.provider.price({ region, type, spot: false }, signal())).toBe(price)
    })

    test('refuses an image that there is not, in the words of the provider', async () => {
      await using world = await facts.open({ image: 'no-such-image' })
      await expect(world.provider.create(facts.request, signal())).rejects.toMatchObject({
        problem: 'refused',
        message: expect.stringContaining(facts.badImage),
      })
    })

    test('keeps the token out of its errors', async () => {
      for (const kind of ['cut', 'quota', 'silent'] as const) {
        await using world = await facts.open({}, kind === 'silent' ? IMPATIENT : undefined)
        world.fault('create', { kind })
        const error = await caught(world.provider.create(facts.request, signal()))
        expect(error).toMatchObject({ name: 'CloudError' })
        expect(inspect(error, { depth: 20, showHidden: true })).not.toContain(facts.token)
      }
    })

    test('understands the header that says when the limit ends', async () => {
      await using world = await facts.open()
      const inAnHour = String(Math.ceil(Date.now() / 1_000) + 3_600)
      const headers = { 'ratelimit-reset': inAnHour }
      world.answerNext('read', { status: 429, body: facts.limited, headers })
      const error = await caught(world.provider.list('f0e1d2c3b4a5', signal()))
      expect(error).toMatchObject({ problem: 'unavailable' })
      expect(Reflect.get(Object(error), 'retryAfterMs')).toBeGreaterThan(3_590_000)
    })

    test('gives up after some answers of 503', async () => {
      await using world = await facts.open()
      for (let read = 0; read < 4; read++) world.answerNext('read', { status: 503, body: facts.limited })
      world.answerNext('read', { status: 418, body: facts.limited })
      await expect(world.provider.list('f0e1d2c3b4a5', signal())).rejects.toMatchObject({
        problem: 'unavailable',
        message: expect.stringContaining('503'),
      })
    })
  })
}
