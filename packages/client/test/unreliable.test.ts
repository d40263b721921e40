import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterEach, describe, expect, test } from '@jest/globals'
import { createClient, readEvents, type ClientOptions, type LogPart } from '../src/index.ts'

type Handler = (request: IncomingMessage, response: ServerResponse, count: number) => void

const opened: (() => void)[] = []
afterEach(() => {
  for (const close of opened.splice(0)) close()
})

/** A server that answers as told, and a client of it. */
const serve = async (handler: Handler, options: ClientOptions = {}) => {
  const requests: IncomingMessage[] = []
  const server = createServer((request, response) => {
    request.resume()
    handler(request, response, requests.push(request))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  opened.push(() => {
    server.close()
    server.closeAllConnections()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { requests, client: createClient({ url, token: 't', retry: { firstMs: 1 }, ...options }), url }
}

const answer = (response: ServerResponse, status: number, body: unknown, headers = {}): void =>
  void response
    .writeHead(status, { 'content-type': 'application/json', ...headers })
    .end(JSON.stringify(body))

const NO_RUNS = { data: [], pagination: { total: 0, offset: 0, limit: 20 } }
const BUSY = { error: true, code: 'unavailable', message: 'busy', request_id: 'r1', details: [] }

describe('repeated requests', () => {
  test.each([429, 502, 503, 504])('a GET that was answered with %i is sent again', async (status) => {
    const { client, requests } = await serve((_, response, count) =>
      count < 3 ? answer(response, status, BUSY) : answer(response, 200, NO_RUNS),
    )
    expect((await client.GET('/runs')).data).toEqual(NO_RUNS)
    expect(requests).toHaveLength(3)
  })

  test('Retry-After is the shortest wait', async () => {
    const { client } = await serve((_, response, count) =>
      count === 1 ? answer(response, 429, BUSY, { 'retry-after': '1' }) : answer(response, 200, NO_RUNS),
    )
    const began = performance.now()
    await client.GET('/runs')
    expect(performance.now() - began).toBeGreaterThanOrEqual(995)
  })

  test('a Retry-After after the last attempt is not waited for, and is a part of the error', async () => {
    const { client, requests } = await serve((_, response) =>
      answer(response, 503, BUSY, { 'retry-after': '3600' }),
    )
    await expect(client.GET('/runs')).rejects.toMatchObject({
      status: 503,
      code: 'unavailable',
      message: 'busy',
      requestId: 'r1',
      retryAfter: 3600,
    })
    expect(requests).toHaveLength(1)
  })

  test('a lost connection and an answer that was cut off are repeated', async () => {
    const { client, requests } = await serve((_, response, count) => {
      if (count === 1) response.destroy()
      else if (count === 2) {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': 1000 })
        response.write('{"data":', () => response.destroy())
      } else answer(response, 200, NO_RUNS)
    })
    await client.GET('/runs')
    expect(requests).toHaveLength(3)
  })

  test('a request that changes something is sent once, and a new run with the same key until it is answered', async () => {
    const { client, requests } = await serve((request, response, count) =>
      request.url === '/api/runs' && count > 2
        ? answer(response, 202, { job_id: 'j' })
        : answer(response, 503, BUSY),
    )
    await expect(
      client.POST('/events/emit', { body: { topic: 'custom.a', data: {} } }),
    ).rejects.toMatchObject({ status: 503 })
    expect(requests).toHaveLength(1)
    await client.POST('/runs', { body: { module: 'm', target: 'a' } })
    const keys = requests.slice(1).map(({ headers }) => headers['idempotency-key'])
    expect(keys).toHaveLength(2)
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/)
    expect(keys[1]).toBe(keys[0])
    await client.POST('/runs', {
      body: { module: 'm', target: 'a' },
      params: { header: { 'Idempotency-Key': 'own' } },
    })
    expect(requests.at(-1)?.headers['idempotency-key']).toBe('own')
  })

  test('refusals are not repeated, and retry: false sends everything once', async () => {
    const { client, requests } = await serve((_, response, count) =>
      answer(response, count === 1 ? 404 : 503, BUSY),
    )
    await expect(client.GET('/runs')).rejects.toMatchObject({ status: 404 })
    await expect(client.GET('/runs', { retry: false })).rejects.toMatchObject({ status: 503 })
    expect(requests).toHaveLength(2)
  })
})

describe('unusual answers', () => {
  test('each attempt has a time limit', async () => {
    const { client, requests } = await serve(() => undefined, {
      timeoutMs: 50,
      retry: { firstMs: 1, withinMs: 3_000 },
    })
    await expect(client.GET('/runs')).rejects.toMatchObject({ status: 0, code: 'timeout' })
    expect(requests.length).toBeGreaterThan(1)
    await expect(client.GET('/runs', { timeoutMs: 20, retry: false })).rejects.toThrow(
      'no answer within 20 ms',
    )
  })

  test('an abort ends a call and the wait before its next attempt', async () => {
    const { client } = await serve((_, response) => answer(response, 503, BUSY), {
      retry: { firstMs: 20_000 },
    })
    const hanging = await serve(() => undefined)
    for (const one of [client, hanging.client]) {
      const stop = new AbortController()
      const call = one.GET('/runs', { signal: stop.signal })
      setImmediate(() => stop.abort(new Error('changed my mind')))
      await expect(call).rejects.toThrow('changed my mind')
      await expect(one.GET('/runs', { signal: stop.signal })).rejects.toThrow('changed my mind')
    }
  })

  test('a page of a proxy is an ApiError', async () => {
    const { client } = await serve(
      (_, response, count) =>
        void response
          .writeHead(count === 1 ? 200 : 403, { 'content-type': 'text/html' })
          .end('<h1>Sign in</h1>'),
    )
    await expect(client.GET('/runs')).rejects.toMatchObject({ code: 'invalid_answer', status: 0 })
    await expect(client.GET('/runs')).rejects.toMatchObject({
      code: 'http_403',
      status: 403,
      message: '<h1>Sign in</h1>',
    })
  })

  test('own headers are sent, and a page of the server uses its session instead of a token', async () => {
    const { requests, url, client } = await serve((_, response) => answer(response, 200, NO_RUNS), {
      headers: { 'x-trace': '7' },
    })
    await client.GET('/runs')
    const scope = globalThis as { location?: unknown }
    scope.location = new URL(`${url}/runs/7`)
    try {
      const own = createClient()
      expect(own.url).toBe(url)
      await own.GET('/runs')
    } finally {
      delete scope.location
    }
    const [first, second] = requests.map(({ headers }) => headers)
    expect(first).toMatchObject({ authorization: 'Bearer t', 'x-trace': '7' })
    expect(first).not.toHaveProperty('x-scanfarm-console')
    expect(second).toMatchObject({ 'x-scanfarm-console': '1' })
    expect(second).not.toHaveProperty('authorization')
  })
})

const stream = (response: ServerResponse): ServerResponse => {
  response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
  return response
}

const logFrame = (position: string, offset: number, text: string): string =>
  `id: ${position}\ndata: ${JSON.stringify({ offset, text })}\n\n`

describe('streams', () => {
  test('a log continues where it was cut off, passes to the next attempt and ends with the step', async () => {
    const { client, requests } = await serve((_, response, count) => {
      const to = stream(response)
      if (count === 1) to.write(`retry: 1\n\n${logFrame('1-4', 0, 'one\n')}`, () => to.destroy())
      else if (count === 2)
        to.end(`${logFrame('1-8', 4, 'two\n')}id: 1-8\nevent: cut\ndata: {"last_event_id":"1-8"}\n\n`)
      else
        to.write(
          `event: attempt\ndata: {"attempt":2}\n\n${logFrame('2-3', 0, 'ü\n')}event: end\ndata: {}\n\n`,
        )
    })
    const parts: LogPart[] = []
    for await (const part of client.followLog({ run: 7, step: 'a step' })) parts.push(part)
    expect(parts.map(({ text, attempt, offset }) => [attempt, offset, text])).toEqual([
      [1, 0, 'one\n'],
      [1, 4, 'two\n'],
      [2, 0, 'ü\n'],
    ])
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1-4', '1-8'])
    expect(requests[0]?.url).toBe('/api/runs/7/steps/a%20step/log?follow=true')
  })

  test('a stream that stays away for too long throws what the server said last', async () => {
    const { client } = await serve((_, response, count) =>
      count === 1 ? void stream(response).end('retry: 1\n\n') : answer(response, 503, BUSY),
    )
    await expect(client.events({ reconnectWithinMs: 100 }).next()).rejects.toMatchObject({ status: 503 })
  })

  test('an abort ends a stream that has been read over collections of garbage', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    const { client } = await serve(
      (_, response) => void stream(response).write(`id: 1\ndata: ${JSON.stringify({ topic: 'a' })}\n\n`),
    )
    const stop = new AbortController()
    const events = client.events({ signal: stop.signal })
    await events.next()
    const next = events.next()
    for (let round = 0; round < 20; round += 1) {
      await turn()
      collectGarbage()
    }
    stop.abort(new Error('seen enough'))
    await expect(next).rejects.toThrow('seen enough')
  })

  test('an answer that is not a stream is refused', async () => {
    const { client } = await serve((_, response) => answer(response, 200, NO_RUNS))
    await expect(client.events().next()).rejects.toThrow('the answer is not a stream of events')
  })

  test('a wait without a stream polls', async () => {
    let status = 'running'
    const { client, requests } = await serve((request, response) => {
      if (request.url?.startsWith('/api/events/stream'))
        return answer(response, 403, { ...BUSY, code: 'forbidden' })
      answer(response, 200, { data: { run_uuid: 'u', status } })
      if (requests.length > 3) status = 'completed'
    })
    expect((await client.waitForRun(1, { refreshMs: 1 })).status).toBe('completed')
  })
})

describe('readEvents', () => {
  const read = async (...pieces: (string | Uint8Array)[]) => {
    const encoder = new TextEncoder()
    const body = ReadableStream.from(
      pieces.map((piece) => (typeof piece === 'string' ? encoder.encode(piece) : piece)),
    ) as ReadableStream<Uint8Array>
    return await Array.fromAsync(readEvents(body))
  }

  test('events are read wherever the stream is split and whatever ends its lines', async () => {
    const text =
      'id: 1\r\ndata: ä\r\ndata:b\r\n\r\n: note\n\nevent: x\rdata\r\rretry: 5\nid: 2\n\ndata: cut off'
    const bytes = new TextEncoder().encode(text)
    const expected = [
      { id: '1', event: 'message', data: 'ä\nb', retryMs: undefined },
      { id: '1', event: 'message', data: undefined, retryMs: undefined },
      { id: '1', event: 'x', data: '', retryMs: undefined },
      { id: '2', event: 'message', data: undefined, retryMs: 5 },
    ]
    expect(await read(text)).toEqual(expected)
    for (let at = 1; at < bytes.length; at += 1)
      expect(await read(bytes.subarray(0, at), bytes.subarray(at))).toEqual(expected)
    expect(await read(...Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
  })

  test('an endless line is refused', async () => {
    const piece = 'x'.repeat(4 * 1024 * 1024)
    await expect(read(piece, piece, piece, piece, piece)).rejects.toThrow('exceeds')
  })
})
