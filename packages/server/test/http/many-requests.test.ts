import { once } from 'node:events'
import { request as send, type ClientRequest, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { testServer } from '../_server.ts'

const MIB = 1024 * 1024

const server = forAllTests(() => testServer({ limits: { bodyIdleMs: 60_000 } }))

/** Begins a job of an operator; the body is not sent yet. */
const begin = (headers: Readonly<Record<string, string | number>>): ClientRequest => {
  const request = send(`${server.url}/api/runs`, {
    method: 'POST',
    agent: false,
    headers: {
      'Content-Type': 'application/json',
      Authorization: `Bearer ${server.tokens.operator}`,
      ...headers,
    },
  })
  request.on('error', () => undefined)
  request.flushHeaders()
  return request
}

const answerTo = async (request: ClientRequest) => {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const { statusCode: status, headers } = response
  return { status, retryAfter: headers['retry-after'], body: await text(response) }
}

/** A statement of the length is enough for a place, so it is taken soon, and given back with the connection. */
const refused = async (): Promise<boolean> => {
  const probe = begin({ 'Content-Length': 15 * MIB })
  const answer = answerTo(probe).then(({ status }) => status)
  probe.end('x')
  const status = await Promise.race([answer, new Promise((resolve) => setTimeout(resolve, 500, 'waits'))])
  probe.destroy()
  await answer.catch(() => undefined)
  return status === 429
}

describe('bodies of callers', () => {
  test('share 32 MiB: a further one answers 429 with Retry-After, and short ones are not affected', async () => {
    const large = new Set<ClientRequest>()
    // A probe may hold the bytes for which a large body asks: it is sent again then.
    const hold = (): void => {
      const request = begin({ 'Content-Length': 15 * MIB })
      large.add(request)
      request.once('response', (answer) => {
        answer.resume()
        if (large.delete(request) && answer.statusCode === 429) hold()
      })
    }
    hold()
    hold()
    await until(refused)
    const third = begin({ 'Content-Length': 15 * MIB })
    expect(await answerTo(third)).toMatchObject({
      status: 429,
      retryAfter: '5',
      body: expect.stringContaining('"code":"too_many_requests"'),
    })
    third.destroy()
    await server.operator.post('/api/events/emit').send({ topic: 'test.topic', data: {} }).expect(200)
    // Without a stated length, a body counts as it arrives.
    const chunked = begin({ 'Transfer-Encoding': 'chunked' })
    const answer = answerTo(chunked)
    chunked.write(Buffer.alloc(4 * MIB, ' '))
    expect((await answer).status).toBe(429)
    chunked.destroy()
    for (const request of large) request.destroy()
    await until(async () => !(await refused()))
  })
})

describe('a connection that does not wait for answers', () => {
  const ask = (count: number): Promise<string> => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    const head = `GET /health HTTP/1.1\r\nHost: ${hostname}\r\n`
    socket.write(`${head}\r\n`.repeat(count - 1) + `${head}Connection: close\r\n\r\n`)
    return text(socket).catch(() => '')
  }
  const answers = (received: string): number => received.split('HTTP/1.1 200').length - 1

  test('gets sixteen answers', async () => {
    expect(answers(await ask(16))).toBe(16)
  })

  test('is closed before it has sent a thousand requests', async () => {
    expect(answers(await ask(1_000))).toBeLessThanOrEqual(16)
    expect(answers(await ask(1))).toBe(1)
  })
})
