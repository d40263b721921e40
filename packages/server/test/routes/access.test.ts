import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newToken, tokenHash } from '../../src/access/secret-hash.ts'
import { testServer, type TestServer } from '../_server.ts'

let server: TestServer
beforeAll(async () => {
  server = await testServer()
})
afterAll(async () => {
  await server[Symbol.asyncDispose]()
})

const refusal = (code: string, message: string, details: unknown[] = []) => ({
  error: true,
  message,
  code,
  request_id: expect.any(String),
  details,
})

const MISSING = 'send a token in the header "Authorization: Bearer <token>"'
const UNKNOWN = 'the token is not known, or it has expired or was removed'
const list = () => server.nobody.get('/api/runs')

describe('a request without a good token answers 401', () => {
  test('when there is none', async () => {
    const { body, headers } = await list().expect(401)
    expect(body).toEqual(refusal('unauthorized', MISSING))
    expect(headers['www-authenticate']).toBe('Bearer realm="scanfarm"')
  })

  test.each(['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', `Bearer ${'x'.repeat(5000)}`, 'Bearer a b'])(
    'when the header is %j',
    async (header) => {
      const { body } = await list().set('Authorization', header).expect(401)
      expect(body).toEqual(refusal('unauthorized', MISSING))
    },
  )

  test.each([newToken(), 'x', 'a.b.c'])('when the token is not known', async (token) => {
    const { body } = await list().set('Authorization', `Bearer ${token}`).expect(401)
    expect(body).toEqual(refusal('unauthorized', UNKNOWN))
  })

  test('when the token has expired', async () => {
    const token = newToken()
    const expiresAt = new Date(Date.now() - 1000)
    await server.store.access.addToken({ name: 'old', role: 'admin', hash: tokenHash(token), expiresAt })
    const { body } = await list().set('Authorization', `Bearer ${token}`).expect(401)
    expect(body).toEqual(refusal('unauthorized', UNKNOWN))
  })

  test('never says what would keep an existing dashboard from its login page', () => {
    expect(`${MISSING} ${UNKNOWN}`.toLowerCase()).not.toContain('api key')
  })
})

describe('a token', () => {
  test('may also stand in x-osm-api-key', async () => {
    await list().set('x-osm-api-key', server.tokens.viewer).expect(200)
    await list().set('x-osm-api-key', 'wrong').expect(401)
  })

  test('works whatever the case of "bearer"', async () => {
    await list().set('Authorization', `bearer ${server.tokens.viewer}`).expect(200)
  })
})

describe('a role that is too small answers 403', () => {
  const VIEWER_MAY_NOT = [
    ['post', '/runs'],
    ['delete', '/runs/1'],
    ['post', '/runs/1/duplicate'],
    ['post', '/runs/1/start'],
    ['post', '/jobs/a/cancel'],
    ['post', '/upload-file'],
  ] as const
  const OPERATOR_MAY_NOT = [
    ['post', '/workflow-upload'],
    ['post', '/tokens'],
    ['get', '/tokens'],
    ['delete', '/tokens/1'],
    ['post', '/users'],
    ['get', '/users'],
    ['get', '/users/1'],
    ['patch', '/users/1'],
    ['delete', '/users/1'],
    ['get', '/settings'],
  ] as const

  test.each(VIEWER_MAY_NOT)('viewer: %s %s', async (method, path) => {
    const { body } = await server.viewer[method](`/api${path}`).expect(403)
    expect(body).toEqual(refusal('forbidden', 'this needs the role operator, and viewer has the role viewer'))
  })

  test.each([...OPERATOR_MAY_NOT])('operator: %s %s', async (method, path) => {
    const { body } = await server.operator[method](`/api${path}`).expect(403)
    expect(body).toEqual(
      refusal('forbidden', 'this needs the role admin, and operator has the role operator'),
    )
  })
})

describe('the first start', () => {
  test('makes an administrator, tells the token once and keeps it for its owner alone', async () => {
    const file = join(server.folder, 'data/admin-token')
    expect(await readFile(file, 'utf8')).toBe(`${server.firstToken}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await server.nobody.get('/api/tokens').set('Authorization', `Bearer ${server.firstToken}`).expect(200)
  })

  test('takes the token of the settings instead, and neither prints nor writes it', async () => {
    await using given = await testServer({ settings: { 'auth.initial_token': 'sft_given_by_the_operator' } })
    expect(given.firstToken).toBe('')
    await expect(stat(join(given.folder, 'data/admin-token'))).rejects.toMatchObject({ code: 'ENOENT' })
    await given.nobody.get('/api/tokens').set('Authorization', 'Bearer sft_given_by_the_operator').expect(200)
  })
})

describe('tokens', () => {
  test('201 shows a new one once; it works until it is removed', async () => {
    const created = await server.admin.post('/api/tokens').send({ name: 'ci', role: 'operator' }).expect(201)
    expect(created.body).toEqual({
      message: 'Token created; keep it, it is not shown again',
      token: expect.stringMatching(/^sfm_[A-Za-z0-9_-]{43}$/),
      data: {
        id: expect.any(Number),
        name: 'ci',
        role: 'operator',
        created_at: expect.stringMatching(/Z$/),
        expires_at: null,
        last_used_at: null,
      },
    })
    const { token, data } = created.body as { token: string; data: { id: number } }
    await list().set('Authorization', `Bearer ${token}`).expect(200)
    const listed = await server.admin.get('/api/tokens').expect(200)
    expect(JSON.stringify(listed.body)).not.toContain(token)
    expect(listed.body.data[0]).toMatchObject({
      id: data.id,
      name: 'ci',
      last_used_at: expect.stringMatching(/Z$/),
    })
    const removed = await server.admin.delete(`/api/tokens/${data.id}`).expect(200)
    expect(removed.body).toEqual({ message: 'Token removed', id: data.id })
    await list().set('Authorization', `Bearer ${token}`).expect(401)
    const again = await server.admin.delete(`/api/tokens/${data.id}`).expect(404)
    expect(again.body).toEqual(refusal('not_found', `there is no token "${data.id}"`))
  })

  test('201 with an end', async () => {
    const expires_at = new Date(Date.now() + 60_000).toISOString()
    const { body } = await server.admin
      .post('/api/tokens')
      .send({ name: 'x', role: 'viewer', expires_at })
      .expect(201)
    expect(body.data.expires_at).toBe(expires_at)
  })

  test.each([
    [{}, ['/name', '/role']],
    [{ name: '', role: 'viewer' }, ['/name']],
    [{ name: 'x', role: 'root' }, ['/role']],
    [{ name: 'x', role: 'viewer', scope: 1 }, ['/scope']],
    [{ name: 'x', role: 'viewer', expires_at: 'tomorrow' }, ['/expires_at']],
    [{ name: 'x', role: 'viewer', expires_at: '2020-01-01T00:00:00Z' }, ['/expires_at']],
  ])('400 for %j', async (sent, paths) => {
    const { body } = await server.admin.post('/api/tokens').send(sent).expect(400)
    expect(body.code).toBe('invalid_input')
    expect((body.details as { path: string }[]).map(({ path }) => path)).toEqual(paths)
  })

  test.each(['0', 'abc', '99999999999'])('404 for the id %s', async (id) => {
    await server.admin.delete(`/api/tokens/${id}`).expect(404)
  })
})

describe('people', () => {
  const PASSWORD = 'correct horse'
  const add = (username: string, role = 'viewer') =>
    server.admin.post('/api/users').send({ username, password: PASSWORD, role })
  const login = (username: string, password = PASSWORD) =>
    server.nobody.post('/api/login').send({ username, password })

  test('201 are added, log in, and act by their role', async () => {
    const { body } = await add('ada').expect(201)
    expect(body).toEqual({
      message: 'User created',
      data: {
        id: expect.any(Number),
        username: 'ada',
        role: 'viewer',
        created_at: expect.stringMatching(/Z$/),
      },
    })
    const answer = await login('ada').expect(200)
    expect(Object.keys(answer.body as object)).toEqual(['token'])
    const { token } = answer.body as { token: string }
    expect(token.split('.')).toHaveLength(3)
    await list().set('Authorization', `Bearer ${token}`).expect(200)
    const { body: refused } = await server.nobody
      .get('/api/tokens')
      .set('Authorization', `Bearer ${token}`)
      .expect(403)
    expect(refused.message).toBe('this needs the role admin, and ada has the role viewer')
  })

  test('200 are listed and read without their password', async () => {
    const { body } = await add('bob').expect(201)
    const read = await server.admin.get(`/api/users/${body.data.id as number}`).expect(200)
    expect(read.body).toEqual({ data: body.data })
    const listed = await server.admin.get('/api/users').expect(200)
    expect(listed.body.data).toContainEqual(body.data)
  })

  test('200 get another role or password, which counts at once', async () => {
    const { id } = (await add('eve').expect(201)).body.data as { id: number }
    const { token } = (await login('eve').expect(200)).body as { token: string }
    const tokens = () => server.nobody.get('/api/tokens').set('Authorization', `Bearer ${token}`)
    await tokens().expect(403)
    await server.admin.patch(`/api/users/${id}`).send({ role: 'admin' }).expect(200)
    await tokens().expect(200)
    await server.admin.patch(`/api/users/${id}`).send({ password: 'another one' }).expect(200)
    await server.nobody.get('/api/runs').set('Authorization', `Bearer ${token}`).expect(401)
    await login('eve').expect(401)
    await login('eve', 'another one').expect(200)
  })

  test('200 are removed, and their logins with them', async () => {
    const { id } = (await add('tom').expect(201)).body.data as { id: number }
    const { token } = (await login('tom').expect(200)).body as { token: string }
    const { body } = await server.admin.delete(`/api/users/${id}`).expect(200)
    expect(body).toEqual({ message: 'User removed', id })
    await list().set('Authorization', `Bearer ${token}`).expect(401)
    await login('tom').expect(401)
    await server.admin.delete(`/api/users/${id}`).expect(404)
    await server.admin.patch(`/api/users/${id}`).send({ role: 'admin' }).expect(404)
    await server.admin.get(`/api/users/${id}`).expect(404)
  })

  test('409 a name that is taken', async () => {
    await add('twin').expect(201)
    const { body } = await add('twin').expect(409)
    expect(body).toEqual(refusal('conflict', 'there is a user twin already'))
  })

  test.each([
    [{ username: 'x', password: 'short', role: 'viewer' }, '/password'],
    [{ username: 'a b', password: PASSWORD, role: 'viewer' }, '/username'],
    [{ username: 'x', password: PASSWORD, role: 'boss' }, '/role'],
    [{ username: 'x', role: 'viewer' }, '/password'],
  ])('400 for %j', async (sent, path) => {
    const { body } = await server.admin.post('/api/users').send(sent).expect(400)
    expect((body.details as { path: string }[])[0]?.path).toBe(path)
  })

  test('400 a change that changes nothing', async () => {
    await server.admin.patch('/api/users/1').send({}).expect(400)
  })
})

describe('POST /login', () => {
  test('401 for an unknown name and for a wrong password alike', async () => {
    await server.admin
      .post('/api/users')
      .send({ username: 'kim', password: 'long enough', role: 'viewer' })
      .expect(201)
    for (const username of ['kim', 'nobody-here']) {
      const { body } = await server.nobody
        .post('/api/login')
        .send({ username, password: 'wrong' })
        .expect(401)
      expect(body).toEqual(refusal('unauthorized', 'the user name or the password is wrong'))
    }
  })

  test('400 without name or password', async () => {
    const { body } = await server.nobody.post('/api/login').send({ username: 'kim' }).expect(400)
    expect(body).toEqual(
      refusal('invalid_input', 'password: is required', [{ path: '/password', message: 'is required' }]),
    )
  })

  test('429 with the time to wait after too many wrong ones', async () => {
    await using fresh = await testServer()
    const attempt = () => fresh.nobody.post('/api/login').send({ username: 'kim', password: 'wrong' })
    let last = await attempt()
    for (let count = 1; count < 12 && last.status === 401; count += 1) last = await attempt()
    expect(last.status).toBe(429)
    expect(last.body).toEqual(
      refusal('too_many_requests', 'too many failed logins; wait before the next try'),
    )
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('POST /logout', () => {
  test.each(['/api/logout', '/osm/api/logout'])(
    '200 at %s deletes the cookie of other dashboards',
    async (path) => {
      const response = await server.nobody.post(path).expect(200)
      expect(response.headers['set-cookie']).toEqual(['osmedeus_session=; Path=/; Max-Age=0; SameSite=Lax'])
      expect(response.body.message).toContain('it is good until its time is over')
    },
  )
})
