import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { call, expectRefusal, farm, idOf, watchFarm } from '../farm/attacked-farm.ts'
import { concrete, nameOf, operations, type Operation } from '../farm/document.ts'
import { allClosed, connectRaw, exchange, statusesIn } from '../farm/raw.ts'

const MIB = 1024 * 1024

const residentBytes = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) * 1024

const head = (line: string, headers: Readonly<Record<string, string | number>>): string =>
  `${line}\r\n${Object.entries({ Host: 'farm', ...headers })
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')}\r\n`

describe('requests without a token', () => {
  test('A login of megabytes is refused before its body is read', async () => {
    const length = 15 * MIB
    // The body is never sent. The server keeps the connection for a while, for a client that is still sending.
    const text = await exchange(
      head('POST /api/login HTTP/1.1', { 'Content-Type': 'application/json', 'Content-Length': length }),
      2_000,
    )
    expect(statusesIn(text)).toEqual([413])
  })

  test('A login beyond the limit is refused for its size, and a smaller one for its password', async () => {
    const login = (password: string) =>
      call('post', '/login', { token: '', body: { username: 'a', password } })
    expectRefusal(await login('x'.repeat(5_000)), 400, 413)
    expectRefusal(await login('x'.repeat(200)), 401)
  })

  test('Sixty unfinished logins use little memory and are closed', async () => {
    const before = residentBytes(farm.master)
    const sockets = await Promise.all(Array.from({ length: 60 }, connectRaw))
    const part = Buffer.alloc(MIB, 'x')
    for (const socket of sockets) {
      socket.write(
        head('POST /api/login HTTP/1.1', { 'Content-Type': 'application/json', 'Content-Length': 16 * MIB }),
      )
      socket.write('{"username": "')
      for (let sent = 0; sent < 8; sent++) socket.write(part)
    }
    expect(await allClosed(sockets, 45_000)).toBe(true)
    expect(residentBytes(farm.master) - before).toBeLessThan(200 * MIB)
  })

  test('The connection of a body that stops is closed', async () => {
    const socket = await connectRaw()
    socket.write(
      head('POST /api/login HTTP/1.1', { 'Content-Type': 'application/json', 'Content-Length': 100 }),
    )
    socket.write('{"user')
    expect(await allClosed([socket], 45_000)).toBe(true)
  })

  test('The connection of headers that stop is closed', async () => {
    const socket = await connectRaw()
    socket.write('GET /api/health HTTP/1.1\r\nHost: farm\r\nX-Slow: ')
    expect(await allClosed([socket], 90_000)).toBe(true)
  })

  test.each(['/api/runs', '/api/workflow-upload', '/api/upload-file', '/api/webhooks/none'])(
    'A large body without a token is not read: %s',
    async (path) => {
      const socket = await connectRaw()
      const chunks: Buffer[] = []
      socket.on('data', (chunk: Buffer) => chunks.push(chunk))
      socket.write(
        head(`POST ${path} HTTP/1.1`, { 'Content-Type': 'application/json', 'Content-Length': 200 * MIB }),
      )
      const before = socket.bytesWritten
      const part = Buffer.alloc(MIB, ' ')
      // A server that closes the connection early may reset it, which is no failure.
      const closed = new Promise((resolve) => socket.once('close', resolve))
      for (let sent = 0; sent < 150 && !socket.destroyed; sent++)
        await Promise.race([closed, new Promise((resolve) => socket.write(part, resolve))])
      expect(await allClosed([socket], 45_000)).toBe(true)
      expect(socket.bytesWritten - before).toBeLessThan(140 * MIB)
      expect(statusesIn(Buffer.concat(chunks).toString()).every((status) => status >= 400)).toBe(true)
    },
  )
})

describe('parsers', () => {
  const nested = (open: string, close: string, depth: number): string =>
    open.repeat(depth) + close.repeat(depth)

  test.each([
    ['arrays in arrays', nested('[', ']', 1_001)],
    ['objects in objects', `${'{"a":'.repeat(1_001)}1${'}'.repeat(1_001)}`],
    ['arrays without an end', '['.repeat(1_001)],
    ['a number of 100,000 digits', `{"timeout": ${'9'.repeat(100_000)}}`],
    ['a prototype', '{"__proto__": {"admin": true}, "constructor": {"prototype": {}}}'],
    ['the same key a thousand times', `{${'"flow":"a",'.repeat(1_000)}"flow":"a"}`],
    ['invalid UTF-8 behind a BOM', '\ufeff{"flow": "\ud800"}'],
    ['nothing', ''],
    ['a null', 'null'],
    ['a text', '"x"'],
  ])('JSON with %s is refused', async (_name, body) => {
    expectRefusal(await call('post', '/runs', { body }), 400, 413)
  })

  test.each([
    [
      'more values than the limit through aliases',
      `a: &a [${'x,'.repeat(9_999)}x]\nparams: [{name: p, default: [${'*a,'.repeat(9)}*a]}]`,
    ],
    ['a list in a list', `a: ${nested('[', ']', 65)}`],
    ['a key of a megabyte', `? ${'k'.repeat(900_000)}\n: 1`],
    ['tags of a program', 'a: !!js/function "function () {}"\nb: !!python/object/apply:os.system ["id"]'],
  ])('YAML with %s is refused', async (_name, yaml) => {
    const form = new FormData()
    form.append('file', new Blob([`kind: module\nname: bomb\n${yaml}\nsteps: []\n`]), 'bomb.yaml')
    expectRefusal(await call('post', '/workflow-upload', { form }), 400, 413)
  })
})

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
    const text = await exchange(head('POST /api/login HTTP/1.1', headers) + body)
    for (const status of statusesIn(text)) expect(status).toBeGreaterThanOrEqual(400)
    expect(statusesIn(text)).not.toContain(500)
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
    for (const status of statusesIn(await exchange(text))) expect([400, 401, 404, 405, 431]).toContain(status)
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
    const text = await exchange(head(`GET ${path} HTTP/1.1`, { Connection: 'close' }))
    for (const status of statusesIn(text)) expect([400, 401, 404, 405]).toContain(status)
  })
})

const SQL = [
  "'",
  "' OR '1'='1",
  "1'; DROP TABLE runs; --",
  '1) OR (1=1',
  "\\'; SELECT pg_sleep(5); --",
  '%',
  '_%\\',
  '$1',
  '{}',
  '1e999',
  '-1',
  '18446744073709551616',
  'NaN',
  '(SELECT pg_sleep(5))',
  'null',
  '😀'.repeat(100),
]
/** Encoded for URLs; some are bytes that no text can contain. */
const VALUES = [...SQL.map(encodeURIComponent), '%00', '%ED%A0%80', '%FF', '%C3%28', '%', '%zz']

/** There are thousands of requests. */
const AT_ONCE = 6
/** Less than the pause that `SQL` contains. */
const SLOW_MS = 4_000

describe('SQL and invalid values', () => {
  let all: Operation[] = []
  beforeAll(async () => {
    all = await operations()
  })

  test('SQL in a query parameter is data', async () => {
    const wrong: string[] = []
    const send = async (operation: Operation, name: string, value: string, again = false): Promise<void> => {
      const began = performance.now()
      const { status, text } = await call('get', `${concrete(operation.path, '1')}?${name}=${value}`)
      const slow = performance.now() - began > SLOW_MS
      // A full page can take as long on a busy machine; a pause in SQL is repeated.
      if (slow && !again) return await send(operation, name, value, true)
      if (status >= 500 || slow || text.includes('syntax error'))
        wrong.push(`${nameOf(operation)} ${name}=${value}: ${status} ${text.slice(0, 100)}`)
    }
    for (const operation of all.filter(({ method, path }) => method === 'get' && !path.endsWith('/stream')))
      for (const { name } of operation.parameters.filter((parameter) => parameter.in === 'query'))
        for (let at = 0; at < VALUES.length; at += AT_ONCE)
          await Promise.all(VALUES.slice(at, at + AT_ONCE).map((value) => send(operation, name, value)))
    expect(wrong).toEqual([])
  })

  test('SQL in a path parameter is data', async () => {
    const wrong: string[] = []
    for (const operation of all.filter(({ path }) => path.includes('{')))
      for (const value of VALUES) {
        const { status, text } = await call(operation.method, concrete(operation.path, value), {
          body: operation.json ? {} : undefined,
        })
        if (status >= 500 && ![501, 503].includes(status))
          wrong.push(`${nameOf(operation)} ${value}: ${status} ${text.slice(0, 100)}`)
      }
    expect(wrong).toEqual([])
  })
})

describe('webhooks', () => {
  test.each([
    'http://127.0.0.1:1/',
    'http://localhost/',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    'http://0/',
    'http://2130706433/',
    'http://0x7f.1/',
    'http://[fd00::1]/',
    'file:///etc/passwd',
    'gopher://127.0.0.1/',
    'ftp://example.com/',
  ])('A webhook is not sent to the private address %s', async (url) => {
    const body = { name: `inside-${Buffer.from(url).toString('hex')}`, url, topics: ['custom.inside'] }
    const answer = await call('post', '/webhook-subscriptions', { body })
    if (answer.status === 400) return expect(answer.text).toContain('/url')
    expect(answer.status).toBe(201)
    const id = idOf(answer)
    await call('post', '/events/emit', { body: { topic: 'custom.inside', data: {} } })
    const tried = async (): Promise<Record<string, unknown> | undefined> => {
      const { json } = await call('get', `/webhook-deliveries?subscription_id=${id}`)
      return ((json?.['data'] ?? []) as Record<string, unknown>[]).find(({ last_error }) => last_error !== '')
    }
    const deadline = Date.now() + 30_000
    let delivery = await tried()
    while (delivery === undefined && Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      delivery = await tried()
    }
    expect(JSON.stringify(delivery)).toMatch(
      /private|not allowed|refused by|loopback|webhooks\.allow_private/,
    )
    await call('delete', `/webhook-subscriptions/${id}`)
  })

  test.each([
    ['POST', '/incoming-webhooks', { name: 'nul', secret: 'a\u0000bcdefghijklmnopqrstuvwxyz0123456789' }],
    ['GET', '/webhook-deliveries?subscription_id=99999999999999999999', undefined],
    ['GET', '/webhook-deliveries?subscription_id=-1', undefined],
    [
      'POST',
      '/schedules',
      { name: 'nul', trigger_type: 'event', event_topic: '\u0000', workflow_name: 'x', target: 'a.test' },
    ],
    ['GET', '/workers/%20', undefined],
  ])('%s %s refuses values that the database cannot store', async (method, path, body) => {
    const { status } = await call(method, path, { body })
    expect([400, 404]).toContain(status)
  })

  test('An incoming webhook with a missing, stale or wrong signature is refused', async () => {
    await call('post', '/incoming-webhooks', { body: { name: 'signed' } })
    const attempts: Record<string, string>[] = [
      {},
      { 'x-scanfarm-timestamp': '1', 'x-scanfarm-signature': `sha256=${'0'.repeat(64)}` },
      {
        'x-scanfarm-timestamp': String(Math.floor(Date.now() / 1_000)),
        'x-scanfarm-signature': `sha256=${'0'.repeat(64)}`,
      },
    ]
    for (const headers of attempts)
      expectRefusal(await call('post', '/webhooks/signed', { token: '', body: {}, headers }), 401)
    await call('delete', '/incoming-webhooks/signed')
  })
})

describe('answers', () => {
  test('Answers have headers that protect browsers', async () => {
    const { headers } = await call('get', '/runs')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('access-control-allow-origin')).toBe(null)
    expect(headers.get('x-powered-by')).toBe(null)
  })

  test('Answers contain no secret of the settings', async () => {
    const { text } = await call('get', '/settings')
    expect(text).not.toContain(farm.tokens.initial)
    expect(text).not.toContain(new URL(farm.databaseUrl).password || 'no password')
  })
})

afterAll(async () => {
  expect((await call('get', '/health', { token: '' })).status).toBe(200)
})

watchFarm()
