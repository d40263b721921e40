import { afterAll, describe, expect, test } from '@jest/globals'
import pg from 'pg'
import { call, expectRefusal, farm, watchFarm, type Answer } from '../farm/attacked-farm.ts'
import { exchange } from '../farm/raw.ts'

const CONSOLE = { 'X-Scanfarm-Console': '1' }

/** The other attacks log in from the same address. */
afterAll(async () => {
  const client = new pg.Client({ connectionString: farm.databaseUrl })
  await client.connect()
  await client.query('delete from login_failures')
  await client.end()
})

const logIn = (body: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  call('post', '/session', { token: '', body, headers })
const cookieOf = ({ headers }: Answer): string => headers.getSetCookie()[0]?.split(';')[0] ?? ''
const adminCookie = async (): Promise<string> => cookieOf(await logIn({ token: farm.tokens.admin }))
const newCode = async (): Promise<string> =>
  String((await call('post', '/session/links')).json?.['url']).split('#code=')[1] ?? ''

describe('the cookie of the console', () => {
  test('The cookie cannot be read by scripts or sent by other sites', async () => {
    const [cookie = ''] = (await logIn({ token: farm.tokens.viewer })).headers.getSetCookie()
    expect(cookie).toMatch(/^scanfarm_session=[\w-]{43}; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/)
  })

  test.each([
    ['post', '/tokens', { name: 'stolen', role: 'admin' }],
    ['post', '/users', { username: 'stolen', password: 'correct horse', role: 'admin' }],
    ['post', '/session/links', undefined],
    ['post', '/runs', {}],
    ['delete', '/session', undefined],
    ['patch', '/users/1', { role: 'admin' }],
  ] as const)('A forged %s %s without the header of the console is refused', async (method, path, body) => {
    const cookie = await adminCookie()
    expectRefusal(await call(method, path, { token: '', body, headers: { cookie } }), 403)
  })

  test.each(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=a'])(
    'A form of another site, sent as %s, neither logs in nor changes anything',
    async (type) => {
      const headers = { 'content-type': type, 'sec-fetch-site': 'cross-site' }
      expectRefusal(await logIn(JSON.stringify({ token: farm.tokens.viewer }), headers), 400, 403, 415)
      const cookie = await adminCookie()
      const forged = await call('post', '/tokens', {
        token: '',
        body: '{"name":"stolen","role":"admin"}',
        headers: { ...headers, cookie },
      })
      expectRefusal(forged, 403)
    },
  )

  test.each(['cross-site', 'same-site'])('Pages of a %s origin can neither read nor change', async (site) => {
    const headers = { cookie: await adminCookie(), 'sec-fetch-site': site, ...CONSOLE }
    expectRefusal(await call('get', '/runs', { token: '', headers }), 403)
    expectRefusal(await call('get', '/events/stream', { token: '', headers }), 403)
    expectRefusal(await call('post', '/session/links', { token: '', headers }), 403)
  })

  test('A session that the client chose is not used, and a login ends the earlier session of the browser', async () => {
    const chosen = `scanfarm_session=${'A'.repeat(43)}`
    const own = cookieOf(await logIn({ token: farm.tokens.admin }, { cookie: chosen }))
    expect(own).not.toBe(chosen)
    expectRefusal(await call('get', '/session', { token: '', headers: { cookie: chosen } }), 401)
    await logIn({ token: farm.tokens.viewer }, { cookie: own })
    expectRefusal(await call('get', '/session', { token: '', headers: { cookie: own } }), 401)
  })

  test('Many cookies with the same name do not get past the check', async () => {
    const cookie = Array.from({ length: 300 }, () => `scanfarm_session=${'A'.repeat(43)}`).join('; ')
    expectRefusal(await call('get', '/runs', { token: '', headers: { cookie } }), 401)
  })
})

describe('login links', () => {
  test('A code that twenty browsers use at the same time logs one of them in', async () => {
    const code = await newCode()
    const answers = await Promise.all(Array.from({ length: 20 }, () => logIn({ code })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expectRefusal(await logIn({ code }), 401, 429)
  })

  test('A code is no token, and a token is no code', async () => {
    expectRefusal(await call('get', '/runs', { token: await newCode() }), 401)
    expectRefusal(await logIn({ code: farm.tokens.admin }), 401, 429)
  })

  test('The host of a link cannot add anything to its address', async () => {
    const text = await exchange(
      [
        'POST /api/session/links HTTP/1.1',
        'Host: evil.example/a?b=#',
        `Authorization: Bearer ${farm.tokens.viewer}`,
        'Content-Length: 0',
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    )
    expect(text).not.toMatch(/"url":"[^"]*(?:\?|evil\.example\/a)/)
  })

  test('Guesses of codes and tokens are answered more and more slowly', async () => {
    const statuses: number[] = []
    for (let index = 0; index < 40; index++)
      statuses.push(
        (await logIn(index % 2 === 0 ? { code: `guess-${index}` } : { token: `guess-${index}` })).status,
      )
    expect(statuses).toContain(429)
    expect(statuses).not.toContain(200)
  })
})

describe('the files of the console', () => {
  test.each([
    '/../package.json',
    '/assets/../../../package.json',
    '/assets/..%2f..%2f..%2fpackage.json',
    '/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
    '/assets/%252e%252e/package.json',
    '/assets/..%5c..%5cpackage.json',
    '/assets/%00',
    '//etc/passwd',
  ])('Nothing outside of the console can be read: %s', async (path) => {
    const text = await exchange(`GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d /)
    expect(text).not.toMatch(/"version"|root:/)
  })
})

watchFarm()
