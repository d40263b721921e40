import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import request from 'supertest'
import { newToken, tokenHash } from '../../src/access/api-token.ts'
import { refusal, testServer, type TestServer } from '../_server.ts'

const PASSWORD = 'correct horse battery'
const CONSOLE = { 'X-Scanfarm-Console': '1' }

let server: TestServer
let second: TestServer
beforeAll(async () => {
  const settings = { 'http.trust_proxy': ['127.0.0.1'] }
  server = await testServer({ settings })
  second = await testServer({ settings, database: server.database })
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})

let users = 0
const addUser = async (role = 'operator'): Promise<{ id: number; username: string }> => {
  users += 1
  const user = { username: `user-${users}`, password: PASSWORD, role }
  const { body } = await server.admin.post('/api/users').send(user).expect(201)
  return { id: body.data.id, username: user.username }
}

const expire = (table: string, hash: string) =>
  server.database.sql(`update ${table} set expires_at = now() where hash = $1`, [hash])

/** A client that keeps no cookies. */
const plain = (to = server) => request(to.url)

const post = (body: object, headers: Record<string, string> = {}, to = server) =>
  plain(to).post('/api/session').set(headers).send(body)

/** Logs in and returns the cookie as a browser would send it. */
const logIn = async (body: object, headers: Record<string, string> = {}): Promise<string> => {
  const answer = await post(body, headers).expect(200)
  return String(answer.headers['set-cookie']?.[0]).split(';')[0] ?? ''
}
const who = (cookie: string, to = server) => plain(to).get('/api/session').set('Cookie', cookie)
const codeOf = (url: string): string => url.split('#code=')[1] ?? ''
const link = async (): Promise<string> =>
  codeOf((await server.operator.post('/api/session/links').expect(201)).body.url)

describe('a login of a browser', () => {
  test('with user name and password sets a cookie that no script can read, and shows who logged in', async () => {
    const { username } = await addUser()
    const { body, headers } = await post({ username, password: PASSWORD }).expect(200)
    expect(body).toEqual({ kind: 'user', name: username, role: 'operator', expires_at: expect.any(String) })
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(
        /^scanfarm_session=[\w-]{43}; Path=\/; Max-Age=86\d{3}; HttpOnly; SameSite=Strict$/,
      ),
    ])
    const cookie = String(headers['set-cookie']?.[0]).split(';')[0] ?? ''
    expect((await who(cookie).expect(200)).body).toEqual(body)
    expect((await who(`theme=dark; ${cookie}; other=1`, second).expect(200)).body).toEqual(body)
    await plain().get('/api/runs').set('Cookie', cookie).expect(200)
  })

  test('over https sets a cookie that is only sent over https', async () => {
    const answer = await post({ token: server.tokens.viewer }, { 'X-Forwarded-Proto': 'https' }).expect(200)
    expect(answer.headers['set-cookie']?.[0]).toMatch(/; Secure$/)
  })

  test('with an API token has its name and role, and ends with it', async () => {
    const token = newToken()
    const expiresAt = new Date(Date.now() + 600_000)
    const { id } = await server.store.access.addToken({
      name: 'laptop',
      role: 'viewer',
      hash: tokenHash(token),
      expiresAt,
    })
    const cookie = await logIn({ token })
    const { body } = await who(cookie).expect(200)
    expect(body).toEqual({
      kind: 'token',
      name: 'laptop',
      role: 'viewer',
      expires_at: expiresAt.toISOString(),
    })
    await server.admin.delete(`/api/tokens/${id}`).expect(200)
    const { body: gone } = await who(cookie).expect(401)
    expect(gone.message).toBe('the login of this browser has ended; log in again')
  })

  test.each([
    {},
    { username: 'a' },
    { password: 'b' },
    { token: 'a', code: 'b' },
    { username: 'a', password: 'b', token: 'c' },
  ])('with %j is refused', async (body) => {
    const answer = await post(body).expect(400)
    expect(answer.body).toEqual(refusal('invalid_input', 'send username and password, or token, or code'))
  })

  test.each([{ token: newToken() }, { code: 'x' }, { username: 'nobody', password: 'wrong-pass' }])(
    'with the unknown %j is refused and sets no cookie',
    async (body) => {
      const answer = await post(body).expect(401)
      expect(answer.headers['set-cookie']).toBeUndefined()
    },
  )

  test('ignores a session id that the client chose, and ends the previous login', async () => {
    const chosen = `scanfarm_session=${'a'.repeat(43)}`
    const first = await logIn({ token: server.tokens.viewer }, { Cookie: chosen })
    expect(first).not.toBe(chosen)
    await who(chosen).expect(401)
    const next = await logIn({ token: server.tokens.viewer }, { Cookie: first })
    expect(next).not.toBe(first)
    await who(first).expect(401)
    await who(next).expect(200)
  })

  test.each(['cross-site', 'same-site'])('that a %s page sends is refused', async (site) => {
    await post({ token: server.tokens.viewer }, { 'Sec-Fetch-Site': site }).expect(403)
  })
})

describe('a session ends', () => {
  test('with a logout, on every master', async () => {
    const cookie = await logIn({ token: server.tokens.viewer })
    const { headers } = await plain()
      .delete('/api/session')
      .set({ Cookie: cookie, ...CONSOLE })
      .expect(200)
    expect(headers['set-cookie']?.[0]).toMatch(/^scanfarm_session=; Path=\/; Max-Age=0; HttpOnly/)
    await who(cookie).expect(401)
    await who(cookie, second).expect(401)
  })

  test.each([
    ['another password', { password: 'another password' }],
    ['another role', { role: 'viewer' }],
  ])('when its user gets %s', async (_what, change) => {
    const { id, username } = await addUser()
    const cookie = await logIn({ username, password: PASSWORD })
    await who(cookie).expect(200)
    await server.admin.patch(`/api/users/${id}`).send(change).expect(200)
    await who(cookie).expect(401)
  })

  test('when its user is removed', async () => {
    const { id, username } = await addUser()
    const cookie = await logIn({ username, password: PASSWORD })
    await server.admin.delete(`/api/users/${id}`).expect(200)
    await who(cookie).expect(401)
  })

  test('when it expires, and is deleted then', async () => {
    const cookie = await logIn({ token: server.tokens.viewer })
    const hash = tokenHash(cookie.split('=')[1] ?? '')
    await expire('sessions', hash)
    await who(cookie).expect(401)
    expect(await server.store.access.pruneSessions()).toBe(1)
  })

  test('when its owner has a hundred newer ones', async () => {
    const token = newToken()
    const { id } = await server.store.access.addToken({
      name: 'many',
      role: 'viewer',
      hash: tokenHash(token),
      expiresAt: null,
    })
    const cookie = await logIn({ token })
    for (let index = 0; index < 100; index++)
      await server.store.access.addSession({ kind: 'token', id }, { hash: `many-${index}`, hours: 1 })
    await who(cookie, second).expect(401)
  })
})

describe('requests with the cookie', () => {
  test('that change something need the header of the console', async () => {
    const cookie = await logIn({ token: server.tokens.operator })
    const start = () => plain().post('/api/events/emit').set('Cookie', cookie)
    const event = { topic: 'test.topic', data: {} }
    const { body } = await start().send(event).expect(403)
    expect(body).toEqual(
      refusal(
        'forbidden',
        'with the login of a browser, requests that change something need the header "X-Scanfarm-Console: 1"',
      ),
    )
    await start().set('X-Scanfarm-Console', 'yes').send(event).expect(403)
    expect((await start().set(CONSOLE).send(event)).status).not.toBe(403)
  })

  test('are refused if another origin made the browser send them', async () => {
    const cookie = await logIn({ token: server.tokens.viewer })
    const get = (site: string) => who(cookie).set('Sec-Fetch-Site', site)
    await get('same-origin').expect(200)
    await get('none').expect(200)
    await get('cross-site').expect(403)
    await get('same-site').expect(403)
    const { body } = await plain()
      .post('/api/session/links')
      .set({ Cookie: cookie, ...CONSOLE, 'Sec-Fetch-Site': 'same-site' })
      .expect(403)
    expect(body.message).toMatch(/another origin/)
  })

  test.each([
    ['http://127.0.0.1:1', 403],
    ['http://evil.example', 403],
    ['null', 403],
    ['https://farm.example', 200],
    ['http://farm.example', 403],
  ])('with the Origin %s for the host farm.example:443 answer %i', async (origin, status) => {
    const cookie = await logIn({ token: server.tokens.viewer })
    const headers = { Host: 'farm.example:443', Origin: origin }
    await post({ token: server.tokens.viewer }, headers).expect(status)
    await plain()
      .post('/api/session/links')
      .set({ Cookie: cookie, ...CONSOLE, ...headers })
      .expect(status === 200 ? 201 : status)
  })

  test('have the host that a trusted proxy received, and a token needs no Origin of this server', async () => {
    const cookie = await logIn({ token: server.tokens.viewer })
    const headers = { Origin: 'https://farm.example', 'X-Forwarded-Host': 'farm.example' }
    await plain()
      .post('/api/session/links')
      .set({ Cookie: cookie, ...CONSOLE, ...headers })
      .expect(201)
    await server.viewer.get('/api/session').set('Origin', 'https://other.example').expect(200)
  })

  test('are judged by their token if they have one', async () => {
    const cookie = await logIn({ token: server.tokens.viewer })
    const both = { Cookie: cookie, Authorization: `Bearer ${server.tokens.admin}` }
    const { body } = await plain().get('/api/session').set(both).expect(200)
    expect(body).toEqual({ kind: 'token', name: 'admin', role: 'admin', expires_at: null })
    await plain().get('/api/session').set({ Cookie: cookie, Authorization: 'Bearer x' }).expect(401)
  })

  test('carry no token in a cookie, and a session is no token', async () => {
    const cookie = await logIn({ token: server.tokens.viewer })
    await who(cookie).expect(200)
    const secret = cookie.split('=')[1] ?? ''
    await plain().get('/api/session').set('Authorization', `Bearer ${secret}`).expect(401)
    await who(`scanfarm_session=${server.tokens.admin}`).expect(401)
  })

  test('never get credentials allowed for other origins', async () => {
    await using open = await testServer({ settings: { 'http.cors_origins': ['*'] } })
    const { headers } = await open.nobody
      .options('/api/runs')
      .set({ Origin: 'https://evil.example', 'Access-Control-Request-Method': 'POST' })
    expect(headers['access-control-allow-credentials']).toBeUndefined()
    expect(headers['access-control-allow-headers']).not.toMatch(/console/i)
  })
})

describe('a login link', () => {
  test('logs in once as the caller who asked for it', async () => {
    const { body } = await server.operator
      .post('/api/session/links')
      .set('Host', 'farm.example:8002')
      .expect(201)
    expect(body.url).toMatch(/^http:\/\/farm\.example:8002\/login#code=[\w-]{43}$/)
    const minutes = (Date.parse(body.expires_at) - Date.now()) / 60_000
    expect(minutes).toBeGreaterThan(9)
    expect(minutes).toBeLessThanOrEqual(10.1)
    const code = codeOf(body.url)
    const both = await Promise.all([post({ code }), post({ code }, {}, second)])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 401])
    expect(both.find(({ status }) => status === 200)?.body).toMatchObject({ kind: 'token', name: 'operator' })
    const { body: refused } = await post({ code }).expect(401)
    expect(refused.message).toMatch(/was used or is older than 10 minutes/)
  })

  test('expires', async () => {
    const code = await link()
    await expire('login_codes', tokenHash(code))
    await post({ code }).expect(401)
  })

  test('from a browser starts no session that outlives the one of that browser', async () => {
    const cookie = await logIn({ token: server.tokens.viewer })
    const { body: session } = await who(cookie)
    const { body } = await plain()
      .post('/api/session/links')
      .set({ Cookie: cookie, ...CONSOLE })
      .expect(201)
    const { body: other } = await post({ code: codeOf(body.url) }).expect(200)
    expect(other.expires_at).toBe(session.expires_at)
  })

  test('ends with the password of its user', async () => {
    const { id, username } = await addUser()
    const cookie = await logIn({ username, password: PASSWORD })
    const { body } = await plain()
      .post('/api/session/links')
      .set({ Cookie: cookie, ...CONSOLE })
      .expect(201)
    await server.admin.patch(`/api/users/${id}`).send({ password: 'another password' }).expect(200)
    await post({ code: codeOf(body.url) }).expect(401)
  })
})

test('guesses of tokens and codes are limited by address, on all masters together', async () => {
  const guess = (index: number) =>
    post(
      index % 2 === 0 ? { token: `guess-${index}` } : { code: `guess-${index}` },
      // Another address of one network of IPv6.
      { 'X-Forwarded-For': `2001:db8:1:2::${index}` },
      index % 3 === 0 ? server : second,
    )
  const statuses: number[] = []
  for (let index = 0; index < 22; index++) statuses.push((await guess(index)).status)
  expect(statuses.slice(0, 20)).toEqual(Array(20).fill(401))
  const last = await guess(23)
  expect(last.status).toBe(429)
  expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
  // A valid token from elsewhere is not affected.
  await post({ token: server.tokens.viewer }, { 'X-Forwarded-For': '2001:db8:1:3::1' }).expect(200)
})

describe('the logins of a caller', () => {
  const listOf = (cookie: string) => plain().get('/api/sessions').set('Cookie', cookie)
  const end = (cookie: string, id: string) =>
    plain().delete(`/api/sessions/${id}`).set('Cookie', cookie).set(CONSOLE)

  test('are listed for their owner only, and the owner ends another one', async () => {
    const [{ username }, other] = [await addUser(), await addUser()]
    const first = await logIn({ username, password: PASSWORD })
    const second = await logIn({ username, password: PASSWORD })
    const stranger = await logIn({ username: other.username, password: PASSWORD })
    const { body } = await listOf(second).expect(200)
    expect(body.data).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{16}$/),
        created_at: expect.any(String),
        last_used_at: expect.any(String),
        expires_at: expect.any(String),
        current: true,
      },
      expect.objectContaining({ current: false }),
    ])
    const { id } = body.data[1]
    await end(stranger, id).expect(404)
    await who(first).expect(200)
    await end(second, id).expect(200)
    await who(first).expect(401)
    await who(second).expect(200)
    await end(second, id).expect(404)
  })

  test('are listed for a token in a header, too', async () => {
    await logIn({ token: server.tokens.viewer })
    const { body } = await server.viewer.get('/api/sessions').expect(200)
    expect(body.data).not.toEqual([])
    const sessions = body.data as { current: boolean }[]
    expect(sessions.filter(({ current }) => current)).toEqual([])
  })
})
