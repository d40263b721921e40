import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { blocksSince, MAX_BLOCK_MS, peakBytes } from './blocks.ts'
import type { FarmFacts } from './start-farm.ts'

const { SCANFARM_TEST_ATTACKED_FARM: facts } = process.env
if (facts === undefined)
  throw new Error('SCANFARM_TEST_ATTACKED_FARM is not set: start the attacks with `npm run test:security`')

export const farm = JSON.parse(facts) as FarmFacts

const CALL_MS = 60_000

export interface CallOptions {
  /** Missing: the token of the administrator. `''`: no token. */
  readonly token?: string
  /** A value that is sent as JSON, or text that is sent unchanged. */
  readonly body?: unknown
  readonly form?: FormData
  readonly headers?: Readonly<Record<string, string>>
  /** API root; `''` for paths that are also served without a root. */
  readonly root?: string
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** Undefined: the text is not JSON. */
  readonly json: Readonly<Record<string, unknown>> | undefined
}

const parsed = (text: string): Answer['json'] => {
  try {
    return JSON.parse(text) as Answer['json']
  } catch {
    return undefined
  }
}

/** Sends one request and returns the answer, whatever its status. */
export async function call(method: string, path: string, options: CallOptions = {}): Promise<Answer> {
  const { token = farm.tokens.admin, body, root = '/api' } = options
  const content = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  const answer = await fetch(`${farm.url}${root}${path}`, {
    method: method.toUpperCase(),
    headers: {
      ...(token === '' ? {} : { authorization: `Bearer ${token}` }),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...options.headers,
    },
    body: options.form ?? content,
    redirect: 'manual',
    signal: AbortSignal.timeout(CALL_MS),
  })
  const text = await answer.text()
  return { status: answer.status, headers: answer.headers, text, json: parsed(text) }
}

/** Undefined: the page was the last one. */
export const nextCursorOf = ({ json }: Answer): string | undefined =>
  (json?.['pagination'] as { readonly next_cursor?: string } | undefined)?.next_cursor

const MIB = 1024 * 1024
const MAX_MASTER_BYTES = 1024 * MIB
const MAX_WORKER_BYTES = 768 * MIB

/** Adds tests of the processes of the farm during the attacks of this file. Call it last. */
export const watchFarm = (): void => {
  let began = Number.POSITIVE_INFINITY
  beforeAll(() => {
    began = Date.now()
  })

  describe('the farm during the attacks', () => {
    test('No event loop of the farm was blocked', () => {
      const blocks = blocksSince(farm.monitors, [farm.master, ...farm.workers], began)
      expect(blocks.filter(({ blockedMs }) => blockedMs > MAX_BLOCK_MS)).toEqual([])
    })

    test('Every process of the farm stayed alive and within its memory limit', () => {
      expect(peakBytes(farm.master)).toBeLessThan(MAX_MASTER_BYTES)
      for (const pid of farm.workers) expect(peakBytes(pid)).toBeLessThan(MAX_WORKER_BYTES)
    })
  })

  afterAll(async () => {
    expect((await call('get', '/health/ready')).status).toBe(200)
  })
}
