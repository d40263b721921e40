import { once } from 'node:events'
import { createServer, request as send, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import express from 'express'
import { listen } from '@scanfarm/testing'
import { addressGroup, ByteBudget } from '../../src/http/address-limits.ts'
import { BodyWatch, type BodyPace } from '../../src/http/body/body-watch.ts'
import { readBody } from '../../src/http/body/json-body.ts'
import { listenHttp } from '../../src/http/listen.ts'
import { apiRoutes } from '../../src/routes/index.ts'
import { testServer } from '../_server.ts'

const IDLE_MS = 1_000
const MIB = 1024 * 1024

const server = forAllTests(() => testServer({ limits: { bodyIdleMs: IDLE_MS } }))

interface Sent {
  readonly request: ClientRequest
  readonly answer: Promise<{ status: number; code: unknown }>
}

/** Sends the headers of a request, and only the part of its body that the test writes. */
const open = (
  url: string,
  {
    method = 'POST',
    length,
    headers = {},
  }: { method?: string; length: number; headers?: Record<string, string> },
): Sent => {
  const request = send(url, {
    method,
    agent: false,
    headers: { 'Content-Type': 'application/json', 'Content-Length': length, ...headers },
  })
  request.on('error', () => undefined)
  request.flushHeaders()
  const answer = once(request, 'response').then(async ([response]: IncomingMessage[]) => {
    const { statusCode: status = 0 } = response ?? {}
    const body = response === undefined ? '' : await text(response).catch(() => '')
    return { status, code: body === '' ? '' : (JSON.parse(body) as { code?: unknown }).code }
  })
  return { request, answer }
}

describe('unauthenticated requests', () => {
  test('every route that requires a token refuses a request without one before reading the body', async () => {
    const routes = apiRoutes()
      .map(({ spec }) => spec)
      .filter(({ role, body, upload, file }) => role !== 'public' && (body ?? upload ?? file) !== undefined)
    expect(routes.length).toBeGreaterThan(15)
    for (const { method, path } of routes) {
      const url = `${server.url}/api${path.replaceAll(/\{\w+\}/g, '1')}`
      const { request, answer } = open(url, { method: method.toUpperCase(), length: 1_000 })
      expect({ path, ...(await answer) }).toEqual({ path, status: 401, code: 'unauthorized' })
      request.destroy()
    }
  })

  test('POST /login accepts at most 4 KiB', async () => {
    const declared = open(`${server.url}/api/login`, { length: 5_000 })
    expect(await declared.answer).toEqual({ status: 413, code: 'payload_too_large' })
    await server.nobody
      .post('/login')
      .send({ username: 'a', password: 'x'.repeat(4_096) })
      .expect(413)
    await server.nobody
      .post('/login')
      .send({ username: 'a', password: 'x'.repeat(200) })
      .expect(401)
  })

  test('unauthenticated bodies in progress share a limited number of bytes', async () => {
    const headers = {
      'X-Scanfarm-Timestamp': String(Math.floor(Date.now() / 1_000)),
      'X-Scanfarm-Signature': `sha256=${'0'.repeat(64)}`,
    }
    const requests = Array.from({ length: 6 }, () =>
      open(`${server.url}/api/webhooks/x`, { length: MIB, headers }),
    )
    const answers = requests.map(({ request, answer }) => {
      request.write(Buffer.alloc(MIB - 1, ' '))
      return answer
    })
    const refused = (await Promise.all(answers)).map(({ status }) => status)
    expect(refused.filter((status) => status === 503).length).toBeGreaterThanOrEqual(1)
    // The other bodies stall and are aborted, which frees their bytes.
    expect(new Set(refused)).toEqual(new Set([408, 503]))
    await server.nobody.post('/login').send({ username: 'a', password: 'b' }).expect(401)
  })

  test('a webhook request without a well-formed signature is refused before reading the body', async () => {
    const { answer } = open(`${server.url}/api/webhooks/x`, { length: 1_000 })
    expect(await answer).toEqual({ status: 401, code: 'unauthorized' })
  })
})

describe('bodies without progress', () => {
  test.each([
    ['a login', '/login', {}],
    ['a request with a token', '/api/runs', { token: 'operator' }],
    ['an upload', '/api/upload-file', { token: 'operator', type: 'multipart/form-data; boundary=x' }],
    ['a body that no route reads', '/api/nothing', {}],
  ] as const)(
    'a body without progress is aborted: %s',
    async (_name, path, { token, type }: { token?: 'operator'; type?: string }) => {
      const { request, answer } = open(`${server.url}${path}`, {
        length: 1_000,
        headers: {
          ...(token === undefined ? {} : { Authorization: `Bearer ${server.tokens[token]}` }),
          ...(type === undefined ? {} : { 'Content-Type': type }),
        },
      })
      request.write('--x\r\n')
      const closed = once(request, 'close')
      const from = performance.now()
      const { status } = await answer
      if (path !== '/api/nothing') expect(status).toBe(408)
      await closed
      expect(performance.now() - from).toBeLessThan(IDLE_MS * 20)
    },
  )
})

/** A server that reads every body, with the limits of the test. */
const bodyServer = async (pace: BodyPace) => {
  const watch = new BodyWatch(pace)
  const http = createServer((request, response) => {
    watch.watch(request, response)
    readBody(request, MIB).then(
      () => response.end('{}'),
      () => response.destroy(),
    )
  })
  return {
    url: `http://127.0.0.1:${await listen(http)}`,
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections()
      http.close()
      await once(http, 'close')
    },
  }
}

test('a body that makes progress is not aborted', async () => {
  const idleMs = 6_000
  await using slow = await bodyServer({ idleMs, graceMs: 60_000, bytesPerSecond: 1 })
  const body = Buffer.from(JSON.stringify({ username: 'a', password: 'b' }))
  const { request, answer } = open(slow.url, { length: body.length })
  const piece = Math.ceil(body.length / 5)
  for (let at = 0; at < body.length; at += piece) {
    request.write(body.subarray(at, at + piece))
    // Each pause is much shorter than the limit; the whole transfer is longer.
    await setTimeout(idleMs / 4)
  }
  expect((await answer).status).toBe(200)
})

test('a body below the minimum rate is aborted', async () => {
  await using slow = await bodyServer({ idleMs: 1_000, graceMs: 500, bytesPerSecond: 10_000 })
  const { request, answer } = open(slow.url, { length: MIB })
  const drip = setInterval(() => request.write('x'), 50)
  expect(await answer).toEqual({ status: 408, code: 'request_timeout' })
  clearInterval(drip)
})

test('connections are limited in total and for each address', async () => {
  const app = express().get('/', (_request, response) => void response.end('ok'))
  const closedOf = async (total: number, perAddress: number, isProxy: boolean): Promise<number> => {
    await using http = await listenHttp(app, {
      host: '127.0.0.1',
      port: 0,
      drainMs: 0,
      connections: { total, perAddress, isProxy: () => isProxy },
    })
    const port = Number(new URL(http.url).port)
    const sockets = Array.from({ length: 8 }, () => connect(port, '127.0.0.1'))
    const answers = sockets.map(async (socket) => {
      const ended = Promise.race([once(socket, 'data'), once(socket, 'close')]).catch(() => undefined)
      await once(socket, 'connect').catch(() => undefined)
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
      await ended
      return socket.bytesRead > 0
    })
    const answered = await Promise.all(answers)
    for (const socket of sockets) socket.destroy()
    return answered.filter((one) => !one).length
  }
  expect(await closedOf(100, 3, false)).toBe(5)
  expect(await closedOf(100, 3, true)).toBe(0)
  expect(await closedOf(5, 100, false)).toBeGreaterThan(0)
})

test('a byte budget is limited in total and for each key', () => {
  const budget = new ByteBudget(10, 6)
  expect([budget.take('a', 6), budget.take('a', 1), budget.take('b', 5), budget.take('b', 4)]).toEqual([
    true,
    false,
    false,
    true,
  ])
  budget.give('a', 6)
  expect([budget.take('b', 2), budget.take('b', 1), budget.take('a', 4)]).toEqual([true, false, true])
})

test('an IPv4 address counts by itself, an IPv6 address by its network', () => {
  expect(
    [
      '10.0.0.1',
      '::ffff:10.0.0.1',
      '2001:db8:0:1:aaaa::1',
      '2001:0db8::1:0:0:0:1',
      'fe80::1%eth0',
      '::1',
      '',
    ].map(addressGroup),
  ).toEqual([
    '10.0.0.1',
    '10.0.0.1',
    '2001:db8:0:1::/64',
    '2001:db8:0:1::/64',
    'fe80:0:0:0::/64',
    '0:0:0:0::/64',
    '',
  ])
})
