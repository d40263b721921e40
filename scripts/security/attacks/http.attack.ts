import { connect } from 'node:net'
import { afterAll, describe, expect, test } from '@jest/globals'
import { call, farm, watchFarm } from '../farm/attacked-farm.ts'

const head = (line: string, headers: Readonly<Record<string, string | number>>): string =>
  `${line}\r\n${Object.entries({ Host: 'farm', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

/** Sends bytes below HTTP; returns the statuses that the server sends until it closes the connection or is silent. */
async function statusesOf(bytes: string): Promise<number[]> {
  const { hostname, port } = new URL(farm.url)
  const socket = connect(Number(port), hostname).on('error', () => {})
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.setTimeout(500, () => socket.destroy())
  const { promise, resolve } = Promise.withResolvers<void>()
  socket.once('close', () => resolve())
  socket.write(bytes)
  await promise
  const text = Buffer.concat(chunks).toString('latin1')
  return [...text.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status))
}

describe('request smuggling', () => {
  const smuggled = 'GET /api/tokens HTTP/1.1\r\nHost: farm\r\n\r\n'

  test.each([
    ['both lengths', { 'Content-Length': 6, 'Transfer-Encoding': 'chunked' }, `0\r\n\r\n${smuggled}`],
    ['two lengths', { 'Content-Length': '6\r\nContent-Length: 0' }, `x${smuggled}`],
    ['a blank before the colon', { 'Transfer-Encoding ': 'chunked' }, `0\r\n\r\n${smuggled}`],
    ['an unknown encoding', { 'Transfer-Encoding': 'xchunked' }, `0\r\n\r\n${smuggled}`],
    ['a length with a sign', { 'Content-Length': '+6' }, `x${smuggled}`],
    ['a folded header', { 'X-A': 'b\r\n Transfer-Encoding: chunked' }, `0\r\n\r\n${smuggled}`],
    ['a bad chunk length', { 'Transfer-Encoding': 'chunked' }, `zz\r\nx\r\n0\r\n\r\n${smuggled}`],
  ])('A request with %s never smuggles a second request', async (_name, headers, body) => {
    const statuses = await statusesOf(head('POST /api/login HTTP/1.1', headers) + body)
    for (const status of statuses) expect(status).toBeGreaterThanOrEqual(400)
    expect(statuses).not.toContain(500)
  })

  test.each([
    ['a NUL', 'GET /api/runs\u0000 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['no version', 'GET /api/runs\r\n\r\n'],
    ['an absolute URL of another host', 'GET http://elsewhere/api/tokens HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['a tunnel', 'CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: a\r\n\r\n'],
    ['headers of 200 KB', head('GET /api/runs HTTP/1.1', { 'X-Large': 'a'.repeat(200_000) })],
    [
      '10,000 headers',
      head(
        'GET /api/runs HTTP/1.1',
        Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`a${i}`, i])),
      ),
    ],
    ['an upgrade', head('GET /api/runs HTTP/1.1', { Connection: 'Upgrade', Upgrade: 'h2c' })],
  ])('A request with %s is refused or closed', async (_name, text) => {
    for (const status of await statusesOf(text)) expect([400, 401, 404, 405, 431]).toContain(status)
  })

  test.each([
    '/api/../api/tokens',
    '/api/%2e%2e/tokens',
    '/api//tokens',
    '/API/tokens',
    '/api/health/../tokens',
    '/api/health%2f..%2ftokens',
    '/api/openapi.json/../tokens',
    '/health/../api/tokens',
    '/api/tokens%00',
    '/api/tokens;a=b',
    '/api/tokens/.',
    '/osm/api/../api/tokens',
  ])('The path %s reaches no route without a token', async (path) => {
    const statuses = await statusesOf(head(`GET ${path} HTTP/1.1`, { Connection: 'close' }))
    for (const status of statuses) expect([400, 401, 404, 405]).toContain(status)
  })
})

afterAll(async () => {
  expect((await call('get', '/health', { token: '' })).status).toBe(200)
})

watchFarm()
