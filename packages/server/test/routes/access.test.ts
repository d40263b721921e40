import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { newToken, tokenHash } from '../../src/access/api-token.ts'
import { refusal, testServer } from '../_server.ts'

const server = forAllTests(() => testServer())

const MISSING = 'send a token in the header "Authorization: Bearer <token>"'
const UNKNOWN = 'the token is unknown, has expired or was removed'
const list = () => server.nobody.get('/api/runs')

describe('a request without a valid token answers 401', () => {
  test('a request without an Authorization header is refused', async () => {
    const { body, headers } = await list().expect(401)
    expect(body).toEqual(refusal('unauthorized', MISSING))
    expect(headers['www-authenticate']).toBe('Bearer realm="scanfarm"')
  })

  test.each(['', 'Bearer', 'Bearer ', 'Basic dXNlcjpwYXNz', `Bearer ${'x'.repeat(5000)}`, 'Bearer a b'])(
    'a request with the header %j is refused',
    async (header) => {
      const { body } = await list().set('Authorization', header).expect(401)
      expect(body).toEqual(refusal('unauthorized', MISSING))
    },
  )

  test.each([newToken(), 'x', 'a.b.c'])('a request with an unknown token is refused', async (token) => {
    const { body, headers } = await list().set('Authorization', `Bearer ${token}`).expect(401)
    expect(body).toEqual(refusal('unauthorized', UNKNOWN))
    expect(headers['www-authenticate']).toBe('Bearer realm="scanfarm", error="invalid_token"')
  })

  test('a request with an expired token is refused', async () => {
    const token = newToken()
    const expiresAt = new Date(Date.now() - 1000)
    await server.store.access.addToken({ name: 'old', role: 'admin', hash: tokenHash(token), expiresAt })
    const { body } = await list().set('Authorization', `Bearer ${token}`).expect(401)
    expect(body).toEqual(refusal('unauthorized', UNKNOWN))
  })

  test('the refusal contains the words that lead an existing dashboard to its login page', () => {
    expect(`${MISSING} ${UNKNOWN}`.toLowerCase()).not.toContain('api key')
  })
})

describe('token headers', () => {
  test('the header x-osm-api-key carries a token', async () => {
    await list().set('x-osm-api-key', server.tokens.viewer).expect(200)
    await list().set('x-osm-api-key', 'wrong').expect(401)
  })

  test('the scheme "bearer" is case-insensitive', async () => {
    await list().set('Authorization', `bearer ${server.tokens.viewer}`).expect(200)
  })
})

describe('an insufficient role answers 403', () => {
  const VIEWER_MAY_NOT = [
    ['post', '/runs'],
    ['delete', '/runs/1'],
    ['post', '/runs/1/duplicate'],
    ['post', '/runs/1/start'],
    ['post', '/jobs/a/cancel'],
    ['post', '/upload-file'],
    ['post', '/tasks'],
    ['post', '/events/emit'],
    ['post', '/functions/eval'],
    ['post', '/schedules/1/trigger'],
    ['post', '/vulnerabilities'],
    ['post', '/vulnerabilities/bulk'],
    ['post', '/vulnerabilities/import'],
    ['post', '/workflows/refresh'],
    ['post', '/cloud/providers/aws/validate'],
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
    ['get', '/settings/yaml'],
    ['get', '/settings/status'],
    ['post', '/settings/reload'],
    ['get', '/audit'],
    ['post', '/schedules'],
    ['put', '/schedules/1'],
    ['delete', '/schedules/1'],
    ['post', '/cloud/instances'],
    ['delete', '/cloud/instances/1'],
    ['post', '/enrichments'],
  ] as const

  test.each(VIEWER_MAY_NOT)('a viewer may not call %s %s', async (method, path) => {
    const { body } = await server.viewer[method](`/api${path}`).expect(403)
    expect(body).toEqual(
      refusal('forbidden', 'this requires the role operator, but viewer has the role viewer'),
    )
  })

  test.each([...OPERATOR_MAY_NOT])('an operator may not call %s %s', async (method, path) => {
    const { body } = await server.operator[method](`/api${path}`).expect(403)
    expect(body).toEqual(
      refusal('forbidden', 'this requires the role admin, but operator has the role operator'),
    )
  })
})

describe('the first start', () => {
  test('the first start creates an administrator token, announces it once and stores it for its owner only', async () => {
    const file = join(server.folder, 'data/admin-token')
    expect(await readFile(file, 'utf8')).toBe(`${server.firstToken}\n`)
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    await server.nobody.get('/api/tokens').set('Authorization', `Bearer ${server.firstToken}`).expect(200)
  })

  test('the first start uses the token of the settings and neither prints nor stores it', async () => {
    await using given = await testServer({ settings: { 'auth.initial_token': 'sft_given_by_the_operator' } })
    expect(given.firstToken).toBe('')
    await expect(stat(join(given.folder, 'data/admin-token'))).rejects.toMatchObject({ code: 'ENOENT' })
    await given.nobody.get('/api/tokens').set('Authorization', 'Bearer sft_given_by_the_operator').expect(200)
  })
})

describe('API tokens', () => {
  test('POST /tokens returns a new token once, and the token works until it is deleted', async () => {
    const created = await server.admin.post('/api/tokens').send({ name: 'ci', role: 'operator' }).expect(201)
    expect(created.body).toEqual({
      message: 'Token created; store it now, because it is not shown again',
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

  test('POST /tokens accepts an expiry time', async () => {
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
  ])('POST /tokens answers 400 for %j', async (sent, paths) => {
    const { body } = await server.admin.post('/api/tokens').send(sent).expect(400)
    expect(body.code).toBe('invalid_input')
    expect((body.details as { path: string }[]).map(({ path }) => path)).toEqual(paths)
  })

  test.each(['0', 'abc', '99999999999'])('DELETE /tokens answers 404 for the id %s', async (id) => {
    await server.admin.delete(`/api/tokens/${id}`).expect(404)
  })
})

describe('users', () => {
  const PASSWORD = 'correct horse'
  const add = (username: string, role = 'viewer') =>
    server.admin.post('/api/users').send({ username, password: PASSWORD, role })
  const login = (username: string, password = PASSWORD) =>
    server.nobody.post('/api/login').send({ username, password })

  test('a new user logs in and acts with its role', async () => {
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
    expect(refused.message).toBe('this requires the role admin, but ada has the role viewer')
  })

  test('users are listed and read without their passwords', async () => {
    const { body } = await add('bob').expect(201)
    const read = await server.admin.get(`/api/users/${body.data.id as number}`).expect(200)
    expect(read.body).toEqual({ data: body.data })
    const listed = await server.admin.get('/api/users').expect(200)
    expect(listed.body.data).toContainEqual(body.data)
  })

  test('a change of role or password takes effect immediately', async () => {
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

  test('deleting a user invalidates its logins', async () => {
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

  test('POST /users answers 409 for an existing name', async () => {
    await add('twin').expect(201)
    const { body } = await add('twin').expect(409)
    expect(body).toEqual(refusal('conflict', 'a user named twin already exists'))
  })

  test.each([
    [{ username: 'x', password: 'short', role: 'viewer' }, '/password'],
    [{ username: 'a b', password: PASSWORD, role: 'viewer' }, '/username'],
    [{ username: 'x', password: PASSWORD, role: 'boss' }, '/role'],
    [{ username: 'x', role: 'viewer' }, '/password'],
  ])('POST /users answers 400 for %j', async (sent, path) => {
    const { body } = await server.admin.post('/api/users').send(sent).expect(400)
    expect((body.details as { path: string }[])[0]?.path).toBe(path)
  })

  test('PATCH /users/{id} answers 400 for an empty change', async () => {
    await server.admin.patch('/api/users/1').send({}).expect(400)
  })
})

describe('POST /login', () => {
  test('POST /login answers 401 for an unknown name and for a wrong password alike', async () => {
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

  test('POST /login answers 400 without name or password', async () => {
    const { body } = await server.nobody.post('/api/login').send({ username: 'kim' }).expect(400)
    expect(body).toEqual(
      refusal('invalid_input', 'password: is required', [{ path: '/password', message: 'is required' }]),
    )
  })

  test('POST /login answers 429 with a waiting time after too many failures', async () => {
    await using fresh = await testServer({ settings: { 'http.trust_proxy': ['127.0.0.1'] } })
    // All addresses of a network of IPv6 count together.
    const attempt = (count: number) =>
      fresh.nobody
        .post('/api/login')
        .set('X-Forwarded-For', `2001:db8:1:2::${count}`)
        .send({ username: 'kim', password: 'wrong' })
    let last = await attempt(0)
    for (let count = 1; count < 12 && last.status === 401; count += 1) last = await attempt(count)
    expect(last.status).toBe(429)
    expect(last.body).toEqual(
      refusal('too_many_requests', 'too many failed logins; wait before the next try'),
    )
    expect(Number(last.headers['retry-after'])).toBeGreaterThan(0)
  })
})

describe('POST /logout', () => {
  test.each(['/api/logout', '/osm/api/logout'])(
    'POST /logout at %s deletes the cookie of the Osmedeus dashboard',
    async (path) => {
      const response = await server.nobody.post(path).expect(200)
      expect(response.headers['set-cookie']).toEqual(['osmedeus_session=; Path=/; Max-Age=0; SameSite=Lax'])
      expect(response.body.message).toBe('Logged out')
    },
  )
})
