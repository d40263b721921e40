import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { createNotifyService, httpRequest, isPublic } from '@scanfarm/functions'

interface Seen {
  readonly method: string
  readonly url: string
  readonly host: string
  readonly secret: string | undefined
  readonly type: string | undefined
  readonly body: string
}

const seen: Seen[] = []
/** Both are on loopback; the tests count the addresses of one of them as public. */
let near = ''
let far = ''
const open = new AsyncDisposableStack()

const answer = (request: IncomingMessage, response: ServerResponse): void => {
  const url = new URL(request.url ?? '/', 'http://any')
  const to = url.searchParams.get('to')
  const status = Number(url.searchParams.get('status') ?? 302)
  const again = Number(url.searchParams.get('again') ?? -1)
  if (to !== null) response.writeHead(status, { Location: to }).end()
  else if (again > 0) response.writeHead(302, { Location: `/?again=${again - 1}` }).end()
  else if (url.pathname === '/zipped')
    response.writeHead(200, { 'Content-Encoding': 'gzip' }).end(gzipSync('unzipped'))
  else if (url.pathname === '/endless') endless(response)
  else response.end('done')
}

/** Sends until the client has closed the connection. */
let sent = 0
const endless = (response: ServerResponse): void => {
  sent = 0
  const more = (): void => {
    while (!response.destroyed && response.write(Buffer.alloc(64 * 1024))) sent += 64 * 1024
  }
  response.on('drain', more)
  more()
}

const serve = async (host: string): Promise<string> => {
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    seen.push({
      method: request.method ?? '',
      url: request.url ?? '',
      host: request.headers.host ?? '',
      secret: request.headers['x-secret'] as string | undefined,
      type: request.headers['content-type'],
      body: Buffer.concat(chunks).toString(),
    })
    answer(request, response)
  }
  const server = createServer((request, response) => void receive(request, response))
  server.listen(0, host)
  await once(server, 'listening')
  open.defer(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return `http://${host}:${(server.address() as AddressInfo).port}`
}

beforeAll(async () => {
  near = await serve('127.0.0.1')
  far = await serve('127.0.0.2')
})
afterAll(() => open.disposeAsync())
beforeEach(() => void seen.splice(0))

const ask = (
  url: string,
  {
    method = 'GET',
    body = '',
    allowPrivate = false,
  }: { method?: string; body?: string; allowPrivate?: boolean } = {},
) =>
  httpRequest(
    { url, method, headers: { 'X-Secret': 's', 'Content-Type': 'a/b' }, body, timeoutMs: 20_000 },
    {
      signal: new AbortController().signal,
      now: () => 0,
      allowPrivate,
      isPublic: (address) => address === '127.0.0.2' || isPublic(address),
    },
  )
const to = (from: string, target: string, status = 302) =>
  `${from}/?status=${status}&to=${encodeURIComponent(target)}`

describe('an HTTP request of a workflow', () => {
  test('follows ten redirects, and no more', async () => {
    expect(await ask(`${far}/?again=10`)).toMatchObject({ status: 200, body: 'done' })
    expect(seen).toHaveLength(11)
    expect(await ask(`${far}/?again=11`)).toMatchObject({ status: 0, error: 'more than 10 redirects' })
    // A refusal is not repeated.
    expect(seen).toHaveLength(22)
  })

  test.each([
    [301, 'GET', '', undefined],
    [303, 'GET', '', undefined],
    [307, 'POST', 'text', 'a/b'],
    [308, 'POST', 'text', 'a/b'],
  ])(
    'keeps its headers at the same origin; after %i a POST continues as %s',
    async (status, method, body, type) => {
      await ask(to(far, `${far}/x`, status), { method: 'POST', body: 'text' })
      expect(seen[1]).toMatchObject({ method, url: '/x', secret: 's', body })
      expect(seen[1]?.type).toBe(type)
    },
  )

  test('sends none of its headers to another origin, also when it comes back', async () => {
    await ask(to(near, to(far, `${far}/x`)))
    expect(seen.map(({ host, secret }) => [host, secret])).toEqual([
      [new URL(near).host, 's'],
      [new URL(far).host, undefined],
      [new URL(far).host, undefined],
    ])
  })

  test.each(['127.0.0.1', '[::ffff:127.0.0.1]', '[::1]', '0x7f000001', 'localhost'])(
    'of a public server is not redirected to %s, whatever the name',
    async (host) => {
      const target = `http://${host}:${new URL(near).port}/x`
      const answer = await ask(to(far, target))
      expect(answer.error).toMatch(
        /is the private address .*: a public server redirected to it, which http\.allow_private permits/,
      )
      expect(seen).toHaveLength(1)
    },
  )

  test('reaches private addresses from private ones, and from public ones if the settings allow it', async () => {
    expect(await ask(to(near, `${near}/x`))).toMatchObject({ status: 200 })
    expect(await ask(to(far, `${near}/x`), { allowPrivate: true })).toMatchObject({ status: 200 })
  })

  test.each(['file:///etc/hostname', 'ftp://127.0.0.2/', 'http://'])(
    'is not redirected to %s',
    async (target) => {
      expect((await ask(to(far, target))).error).toMatch(/which is not a URL of http or https/)
      expect(seen).toHaveLength(1)
    },
  )

  test('reads a compressed body', async () => {
    expect(await ask(`${far}/zipped`)).toMatchObject({ status: 200, body: 'unzipped' })
  })
})

describe('a notification', () => {
  const notify = (url: string) =>
    createNotifyService({ telegram: [], webhooks: [{ url }] })?.send({
      kind: 'webhook',
      channel: '',
      text: 'hi',
    })

  test('is not sent where its receiver redirects to', async () => {
    await expect(notify(to(far, `${near}/x`, 307))).rejects.toThrow('the message was refused with 307')
    expect(seen).toHaveLength(1)
  })

  test('closes the connection of a receiver whose answer does not end', async () => {
    await notify(`${far}/endless`)
    // What the sockets hold besides the 64 KiB that are read.
    expect(sent).toBeLessThan(16 * 1024 * 1024)
  })
})
