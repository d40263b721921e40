import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { refusal, testServer } from '../_server.ts'

const server = forAllTests(() => testServer())

describe('unknown paths', () => {
  test.each(['/nope', '/api/nope', '/osm/api/nope', '/api', '/', '/api/runs/1/nope'])(
    'the path %s answers 404 in JSON',
    async (path) => {
      const response = await server.viewer
        .get(path)
        .expect(404)
        .expect('Content-Type', /^application\/json/)
      expect(response.body).toEqual(refusal('not_found', `there is no route GET ${path}`))
    },
  )

  test('paths are case-sensitive', async () => {
    await server.viewer.get('/api/Runs').expect(404)
  })

  test('a path with invalid escapes answers 400', async () => {
    const response = await server.viewer.get('/api/runs/%zz').expect(400)
    expect(response.body).toEqual(
      refusal('bad_request', 'the path contains a % that does not begin a valid UTF-8 escape'),
    )
  })
})

test.each([
  ['gzip, deflate, br', 'gzip'],
  ['br;q=1, GZIP;q=0.5', 'gzip'],
  ['gzip;q=0', undefined],
  ['br', undefined],
  ['', undefined],
])('a long answer to %j is encoded as %s, and says the same', async (accepted, encoding) => {
  const answer = await server.nobody.get('/api/openapi.json').set('Accept-Encoding', accepted).expect(200)
  expect(answer.headers['content-encoding']).toBe(encoding)
  expect(answer.body.info.title).toBe('Scanfarm')
  const size = Number(answer.headers['content-length'])
  if (encoding === undefined) expect(size).toBeGreaterThan(200_000)
  else expect(size).toBeLessThan(100_000)
  const short = await server.viewer.get('/api/workers').set('Accept-Encoding', accepted).expect(200)
  expect(short.headers['content-encoding']).toBeUndefined()
})

test('a refusal before the body arrives leaves the connection open for the body and further requests', async () => {
  const { hostname, port } = new URL(server.url)
  const socket = connect(Number(port), hostname)
  const head = (line: string, length: number): string =>
    `${line} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${server.tokens.operator}\r\nContent-Length: ${length}\r\n`
  socket.write(
    `${head('POST /api/vulnerabilities/import?workspace=w&format=nope', 4)}Content-Type: application/xml\r\n\r\n`,
  )
  const answers: string[] = []
  for await (const chunk of socket.setEncoding('utf8')) {
    answers.push(...(String(chunk).match(/^HTTP\/1.1 \d+/gm) ?? []))
    if (answers.length === 1) socket.write(`<a/>${head('GET /health', 0)}Connection: close\r\n\r\n`)
  }
  expect(answers).toEqual(['HTTP/1.1 400', 'HTTP/1.1 200'])
})

describe('methods that a path does not have', () => {
  test('another method answers 405 with the allowed methods', async () => {
    const response = await server.admin
      .put('/api/runs')
      .expect(405)
      .expect('Allow', 'GET, HEAD, OPTIONS, POST')
    expect(response.body).toEqual(
      refusal('method_not_allowed', 'PUT is not allowed here; allowed methods: GET, HEAD, OPTIONS, POST'),
    )
    await server.admin.post('/api/runs/1').expect(405).expect('Allow', 'DELETE, GET, HEAD, OPTIONS')
  })

  test('a path that is also the id of another one answers with the methods of both', async () => {
    for (const path of ['/api/runs/cancel', '/api/runs/retry'])
      await server.admin.put(path).expect(405).expect('Allow', 'DELETE, GET, HEAD, OPTIONS, POST')
  })

  test('OPTIONS answers with the allowed methods', async () => {
    await server.nobody.options('/api/runs').expect(204).expect('Allow', 'GET, HEAD, OPTIONS, POST')
  })
})

describe('HEAD requests', () => {
  test('HEAD answers with the headers of GET', async () => {
    const response = await server.viewer.head('/api/runs').expect(200)
    expect(response.text).toBeUndefined()
    expect(Number(response.headers['content-length'])).toBeGreaterThan(10)
  })
})

describe('invalid HTTP requests', () => {
  const send = async (bytes: string): Promise<{ head: string; body: unknown }> => {
    const { hostname, port } = new URL(server.url)
    const socket = connect(Number(port), hostname)
    socket.write(bytes)
    const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n')
    return { head, body: JSON.parse(body) }
  }

  test.each(['hello\r\n\r\n', 'GET /api/runs HTTP/1.1\r\nbad header: x\r\n\r\n'])(
    'an invalid request answers 400 with the usual error body: %j',
    async (bytes) => {
      const { head, body } = await send(bytes)
      expect(head).toMatch(/^HTTP\/1\.1 400 /)
      expect(head).toMatch(/^Scanfarm-Version: /m)
      expect(body).toEqual(refusal('bad_request', 'the request is not valid HTTP/1.1'))
    },
  )

  test('too large headers answer 431', async () => {
    const { head, body } = await send(`GET /api/runs?target=${'a'.repeat(40_000)} HTTP/1.1\r\n\r\n`)
    expect(head).toMatch(/^HTTP\/1\.1 431 /)
    expect(body).toEqual(refusal('bad_request', 'the request line and headers together are too large'))
  })
})

describe('JSON bodies', () => {
  const post = (body: string | Buffer, type = 'application/json') =>
    server.operator.post('/api/runs').set('Content-Type', type).send(body)

  test('invalid JSON answers 400 with the position', async () => {
    const response = await post('{"flow": "a",\n "target" 1}').expect(400)
    expect(response.body).toEqual(
      refusal(
        'invalid_json',
        "the body is not valid JSON: Expected ':' after property name in JSON at position 24 (line 2 column 11)",
      ),
    )
  })

  test('incomplete JSON answers 400', async () => {
    const response = await post('{"flow": "a"').expect(400)
    expect(response.body.message).toBe(
      "the body is not valid JSON: Expected ',' or '}' after property value in JSON at position 12 (line 1 column 13)",
    )
  })

  test('a missing body answers 400', async () => {
    const response = await server.operator.post('/api/runs').expect(400)
    expect(response.body).toEqual(refusal('invalid_json', 'a JSON body is required, but the body is empty'))
  })

  test('invalid UTF-8 answers 400 with the position', async () => {
    const response = await fetch(`${server.url}/api/runs`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${server.tokens.operator}`, 'Content-Type': 'application/json' },
      body: Buffer.from([0x7b, 0x22, 0xc3, 0x22]),
    })
    expect(response.status).toBe(400)
    expect(await response.json()).toEqual(refusal('invalid_json', 'the body is not valid UTF-8 at byte 2'))
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1'])(
    'a body with the type %s answers 415',
    async (type) => {
      const response = await post('{}', type).expect(415)
      expect(response.body).toEqual(
        refusal(
          'unsupported_media_type',
          'send the body as JSON in UTF-8, with the header Content-Type: application/json',
        ),
      )
    },
  )

  test('a compressed body answers 415', async () => {
    const response = await post(gzipSync('{}')).set('Content-Encoding', 'gzip').expect(415)
    expect(response.body.message).toBe('a body with Content-Encoding gzip is not supported')
  })

  test('a body may name its charset', async () => {
    await post('{}', 'application/json; charset=utf-8').expect(400, /exactly one of/)
  })

  test('a body above the limit answers 413, with and without Content-Length', async () => {
    const login = (body: string | ReadableStream) =>
      fetch(`${server.url}/api/login`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body,
        duplex: 'half',
      } as RequestInit)
    const response = await login(JSON.stringify({ username: 'x'.repeat(5000) }))
    expect(response.status).toBe(413)
    expect(await response.json()).toEqual(refusal('payload_too_large', 'the body is larger than 4096 bytes'))
    const chunked = await login(
      new ReadableStream({
        start(controller) {
          for (let at = 0; at < 100; at += 1) controller.enqueue(Buffer.alloc(1000, 0x20))
          controller.close()
        },
      }),
    )
    expect(chunked.status).toBe(413)
    await chunked.body?.cancel()
  })

  test.each(['[]', '"text"', '5', 'null', 'true'])('%s instead of an object answers 400', async (body) => {
    const response = await post(body).expect(400)
    expect(response.body).toEqual(
      refusal('invalid_input', 'the body must be object', [{ path: '', message: 'must be object' }]),
    )
  })
})

describe('response headers', () => {
  test('every response has the version and a restrictive security policy', async () => {
    for (const path of ['/health', '/api/nope', '/api/runs']) {
      const response = await server.nobody.get(path)
      expect(response.headers).toMatchObject({
        'scanfarm-version': '0.1.0',
        'x-content-type-options': 'nosniff',
        'x-frame-options': 'DENY',
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      })
      expect(response.headers).not.toHaveProperty('x-powered-by')
      expect(response.headers).not.toHaveProperty('access-control-allow-origin')
    }
  })

  test('every response has the request id that was sent, or a new one', async () => {
    const given = await server.nobody.get('/api/nope').set('X-Request-Id', 'abc-1.2')
    expect(given.headers['x-request-id']).toBe('abc-1.2')
    expect(given.body.request_id).toBe('abc-1.2')
    const made = await server.nobody.get('/health')
    expect(made.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('a request id that could forge a log line is not repeated', async () => {
    const response = await server.nobody.get('/health').set('X-Request-Id', 'a b"c')
    expect(response.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('API roots', () => {
  test('both API roots serve the same routes', async () => {
    await server.viewer.get('/api/runs').expect(200)
    await server.viewer.get('/osm/api/runs').expect(200)
    await server.viewer.get('/runs').expect(404)
  })

  test.each(['/health', '/health/ready', '/openapi.json', '/docs'])(
    'the API roots and the base path serve %s without a token',
    async (path) => {
      for (const root of ['', '/api', '/osm/api']) await server.nobody.get(root + path).expect(200)
    },
  )

  test('the API roots and the base path accept a login', async () => {
    for (const root of ['', '/api', '/osm/api'])
      await server.nobody.post(`${root}/login`).send({ username: 'x', password: 'y' }).expect(401)
  })
})

describe('other origins', () => {
  test('the origins in the settings are allowed', async () => {
    await using open = await testServer({ settings: { 'http.cors_origins': ['https://ui.example'] } })
    const preflight = await open.nobody
      .options('/api/runs')
      .set('Origin', 'https://ui.example')
      .set('Access-Control-Request-Method', 'POST')
      .expect(204)
    expect(preflight.headers['access-control-allow-origin']).toBe('https://ui.example')
    expect(preflight.headers['access-control-allow-headers']).toContain('Authorization')
    const response = await open.viewer.get('/api/runs').set('Origin', 'https://ui.example').expect(200)
    expect(response.headers['access-control-allow-origin']).toBe('https://ui.example')
    const other = await open.viewer.get('/api/runs').set('Origin', 'https://evil.example').expect(200)
    expect(other.headers).not.toHaveProperty('access-control-allow-origin')
  })
})
