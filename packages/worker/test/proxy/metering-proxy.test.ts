import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { createServer, type RequestListener } from 'node:http'
import { createServer as createTls } from 'node:https'
import { connect, createServer as createTcp, type Server, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { connect as connectTls } from 'node:tls'
import { afterEach, expect, jest, test } from '@jest/globals'
import { listen, until } from '@scanfarm/testing'
import { MeteringProxy, type MeteringProxyParts } from '../../src/proxy/metering-proxy.ts'
import { ProxyPorts } from '../../src/proxy/ports.ts'
import { TEST_MS } from '../harness/runs.ts'

jest.setTimeout(TEST_MS)

let scope = new AsyncDisposableStack()
afterEach(async () => {
  await scope.disposeAsync()
  scope = new AsyncDisposableStack()
})

const listening = async (server: Server, host = '127.0.0.1'): Promise<number> => {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket))
  scope.defer(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return await listen(server, host)
}

const openProxy = async (changes: Partial<MeteringProxyParts> = {}): Promise<MeteringProxy> =>
  scope.use(
    await MeteringProxy.open({
      route: async () => ({ addresses: ['127.0.0.1'] }),
      rate: null,
      isPerAddress: false,
      uid: undefined,
      ports: scope.use(new ProxyPorts()),
      ...changes,
    }),
  )

const dial = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  scope.defer(() => void socket.destroy())
  await once(socket, 'connect')
  return socket
}

/** The answer to a text, until the connection ends. */
const said = async ({ port }: MeteringProxy, text: string): Promise<string> => {
  const socket = await dial(port)
  socket.write(text)
  return (await buffer(socket)).toString('latin1')
}
const get = (proxy: MeteringProxy, url: string): Promise<string> =>
  said(proxy, `GET ${url} HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`)

test('Requests and answers pass as they are', async () => {
  const asked: string[] = []
  const answer =
    'HTTP/1.1 299 Quite Fine\r\nserver: odd/1\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Bad: caf\xe9\r\nConnection: close\r\n\r\nbody'
  const server = createTcp((socket) => {
    socket.once('data', (data) => {
      asked.push(data.toString('latin1'))
      socket.end(Buffer.from(answer, 'latin1'))
    })
  })
  const port = await listening(server)
  const proxy = await openProxy()
  const rest = 'hOST: other.example\r\nx-a: 1\r\nX-A: 2\r\nAccept: x\r\nConnection: close\r\n\r\n'
  const found = await said(
    proxy,
    `GET http://u:p@127.0.0.1:${port}/a%2e/../b?q='"<> HTTP/1.1\r\nProxy-Connection: Keep-Alive\r\n${rest}`,
  )
  expect(asked).toEqual([`GET /a%2e/../b?q='"<> HTTP/1.1\r\n${rest}`])
  expect(found).toBe(answer)
  await said(
    proxy,
    `POST http://127.0.0.1:${port} HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc`,
  )
  expect(asked[1]).toBe('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc')
  expect(proxy.counts).toMatchObject({ requests: 2, tunnels: 0, refused: 0 })
})

test('What may not be asked is answered with the reason and counted, and nothing is sent', async () => {
  const reached: string[] = []
  const port = await listening(createTcp(() => reached.push('connection')))
  const proxy = await openProxy({ route: async (url) => ({ reason: `no ${url}` }) })
  const plain = await get(proxy, `http://127.0.0.1:${port}/x`)
  expect(plain).toMatch(/^HTTP\/1\.1 403 /)
  expect(plain).toContain(`scanfarm: no http://127.0.0.1:${port}/x\n`)
  expect(await said(proxy, `CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`)).toMatch(
    /^HTTP\/1\.1 403 Forbidden\r\n[^]*scanfarm: no https:\/\/127\.0\.0\.1:\d+\/\n$/,
  )
  expect(await get(proxy, '/path')).toMatch(/^HTTP\/1\.1 400 [^]*this is a proxy/)
  expect(await said(proxy, 'CONNECT a/b HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /)
  expect(reached).toEqual([])
  expect(proxy.counts.refused).toBe(2)
  expect(proxy.takeRefused()).toEqual([
    { origin: `127.0.0.1:${port}`, reason: `no http://127.0.0.1:${port}/x`, count: 2 },
  ])
  expect(proxy.takeRefused()).toEqual([])
})

test('The next proxy of a user has the port of the last one, which takes nothing in between', async () => {
  const port = await listening(createServer((_, response) => response.end('right')))
  const ports = scope.use(new ProxyPorts())
  const url = `http://127.0.0.1:${port}/`
  const first = await openProxy({ ports, uid: process.getuid?.() })
  const other = await openProxy({ ports, uid: 1 })
  const left = await dial(first.port)
  const { port: ofFirst } = first
  await other[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
  await once(left.resume(), 'close')
  await once((await dial(ofFirst)).resume(), 'close')
  const second = await openProxy({ ports, uid: process.getuid?.() })
  expect(second.port).toBe(ofFirst)
  expect(await get(second, url)).toContain('right')
  expect([first.counts.requests, second.counts.requests]).toEqual([0, 1])
})

test('It connects to the address that was checked, whatever the name resolves to later', async () => {
  const port = await listening(
    createServer((_, response) => response.end('right')),
    '127.0.0.9',
  )
  const proxy = await openProxy({ route: async () => ({ addresses: ['127.0.0.9'] }) })
  expect(await get(proxy, `http://changing.example:${port}/`)).toContain('right')
  const tunnel = await said(
    proxy,
    `CONNECT changing.example:${port} HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n`,
  )
  expect(tunnel).toMatch(/^HTTP\/1\.1 200 OK\r\n\r\nHTTP\/1\.1 200 OK[^]*right$/)
})

test('A server that is gone gives no answer, and one that closes a kept connection is asked again', async () => {
  const proxy = await openProxy()
  const gone = await listening(createTcp())
  await scope.disposeAsync()
  scope = new AsyncDisposableStack()
  const later = await openProxy()
  await expect(get(later, `http://127.0.0.1:${gone}/`)).rejects.toThrow('ECONNRESET')
  expect(await said(later, `CONNECT 127.0.0.1:${gone} HTTP/1.1\r\n\r\n`)).toMatch(/^HTTP\/1\.1 502 /)
  expect(proxy.counts.requests).toBe(0)

  let connections = 0
  const server = createTcp((socket) => {
    connections += 1
    let requests = 0
    socket.on('data', () => {
      requests += 1
      if (requests > 1) socket.resetAndDestroy()
      else socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    })
    socket.on('error', () => undefined)
  })
  const port = await listening(server)
  for (const _ of [1, 2]) expect(await get(later, `http://127.0.0.1:${port}/`)).toMatch(/ok$/)
  expect(connections).toBe(2)
})

/** When requests arrived, in milliseconds, and how to ask. */
const counting = (): { times: number[]; listener: RequestListener } => {
  const times: number[] = []
  return {
    times,
    listener: (_, response) => {
      times.push(performance.now())
      response.end('ok')
    },
  }
}
const RATE = 25
const MANY = 20
const spanOf = (times: readonly number[]): number => (times.at(-1) ?? 0) - (times[0] ?? 0)
/** How late a busy machine may see what arrives first. */
const TOLERANCE_MS = 250
/** The least time in which so many requests may arrive. */
const leastMs = (count: number, rate = RATE): number => ((count - 1) * 1000) / rate - TOLERANCE_MS

test('Requests above the rate are delayed, none is dropped, and the first one waits as well', async () => {
  const { times, listener } = counting()
  const port = await listening(createServer(listener))
  const began = performance.now()
  const proxy = await openProxy({ rate: RATE })
  const answers = await Promise.all(
    Array.from({ length: MANY }, () => get(proxy, `http://127.0.0.1:${port}/`)),
  )
  expect(answers.filter((answer) => answer.endsWith('ok'))).toHaveLength(MANY)
  expect(times).toHaveLength(MANY)
  expect((times[0] ?? 0) - began).toBeGreaterThan(1000 / RATE - 1)
  expect(spanOf(times)).toBeGreaterThan(leastMs(MANY))
})

test('A rate of each address delays no other address, and a tool that has gone uses no turn', async () => {
  const { times, listener } = counting()
  const port = await listening(createServer(listener))
  const proxy = await openProxy({
    rate: 1,
    isPerAddress: true,
    route: async (url) => ({ addresses: [new URL(url).hostname] }),
  })
  const gone = await dial(proxy.port)
  gone.write(`GET http://127.0.0.1:${port}/ HTTP/1.1\r\n\r\n`)
  await until(() => proxy.counts.bytes > 0, { what: 'the request of the tool that goes' })
  gone.destroy()
  const far = createServer(listener)
  const other = await listening(far, '127.0.0.2')
  await Promise.all([
    get(proxy, `http://127.0.0.1:${port}/`),
    get(proxy, `http://127.0.0.2:${other}/`),
    get(proxy, `http://127.0.0.2:${other}/`),
  ])
  expect(times).toHaveLength(3)
  const [first = 0, second = 0, third = 0] = times
  // Those of two addresses arrive together.
  expect(second - first).toBeLessThan((third - second) / 2)
  expect(third - first).toBeGreaterThan(leastMs(2, 1))
})

test.each(['TLSv1.2', 'TLSv1.3'] as const)('Requests in a tunnel of %s are delayed too', async (version) => {
  const folder = await mkdtemp(join(tmpdir(), 'scanfarm-proxy-'))
  const [key = '', cert = ''] = ['key.pem', 'cert.pem'].map((name) => join(folder, name))
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'rsa:2048', '-keyout', key, '-out', cert, '-subj', '/CN=t', '-nodes'],
    { stdio: 'ignore' },
  )
  const { times, listener } = counting()
  const port = await listening(createTls({ key: readFileSync(key), cert: readFileSync(cert) }, listener))
  const proxy = await openProxy({ rate: RATE })
  const socket = await dial(proxy.port)
  socket.write(`CONNECT 127.0.0.1:${port} HTTP/1.1\r\n\r\n`)
  await once(socket, 'data')
  const tls = connectTls({ socket, rejectUnauthorized: false, minVersion: version, maxVersion: version })
  await once(tls, 'secureConnect')
  tls.resume()
  // Without waiting for answers.
  for (let index = 0; index < MANY; index += 1) {
    const written = Promise.withResolvers<undefined>()
    tls.write('GET / HTTP/1.1\r\nHost: h\r\n\r\n', () => written.resolve(undefined))
    await written.promise
  }
  await until(() => times.length === MANY, { what: 'all requests' })
  // The first one comes with its connection.
  expect(spanOf(times)).toBeGreaterThan(leastMs(MANY - 1))
  expect(proxy.counts).toMatchObject({ requests: 0, tunnels: 1 })
})

test('It serves the user of its run only', async () => {
  const { times, listener } = counting()
  const port = await listening(createServer(listener))
  const own = await openProxy({ uid: process.getuid?.() })
  expect(await get(own, `http://127.0.0.1:${port}/`)).toMatch(/ok$/)
  const foreign = await openProxy({ uid: 12_345 })
  expect(await get(foreign, `http://127.0.0.1:${port}/`)).toMatch(/^HTTP\/1\.1 403 [^]*of another run/)
  expect(times).toHaveLength(1)
})
