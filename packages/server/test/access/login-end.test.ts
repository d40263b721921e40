import { once } from 'node:events'
import { randomUUID } from 'node:crypto'
import { get, type IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { newToken, tokenHash } from '../../src/access/api-token.ts'
import { testServer, type TestServer } from '../_server.ts'
import { claimLocalRuns, endRun, stepRecord } from '../_worker.ts'

const PASSWORD = 'correct horse battery'
/** The promise is five seconds; a busy machine gets more. */
const END_MS = 20_000

let first: TestServer
let second: TestServer
beforeAll(async () => {
  first = await testServer()
  second = await testServer({ database: first.database })
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

type Headers = Readonly<Record<string, string>>
interface Login {
  readonly id: number
  readonly headers: Headers
}

let users = 0
const addUser = async (): Promise<{ id: number; username: string }> => {
  users += 1
  const user = { username: `user-${users}`, password: PASSWORD, role: 'operator' }
  const { body } = await first.admin.post('/api/users').send(user).expect(201)
  return { id: body.data.id, username: user.username }
}
const bearer = (token: string): Headers => ({ Authorization: `Bearer ${token}` })

const withToken = async (): Promise<Login> => {
  const { body } = await first.admin.post('/api/tokens').send({ name: 'stream', role: 'viewer' }).expect(201)
  return { id: body.data.id, headers: bearer(body.token) }
}
const withLogin = async (): Promise<Login> => {
  const { id, username } = await addUser()
  const { body } = await first.nobody.post('/api/login').send({ username, password: PASSWORD }).expect(200)
  return { id, headers: bearer(body.token) }
}
const withCookie = async (): Promise<Login> => {
  const { id, username } = await addUser()
  const answer = await first.nobody.post('/api/session').send({ username, password: PASSWORD }).expect(200)
  return { id, headers: { Cookie: String(answer.headers['set-cookie']?.[0]).split(';')[0] ?? '' } }
}

/** Opens an answer of a master and waits for its first bytes. */
const open = async (server: TestServer, path: string, headers: Headers): Promise<IncomingMessage> => {
  const request = get(server.url + path, { headers, agent: false })
  const [answer] = (await once(request, 'response')) as [IncomingMessage]
  // The server resets the connection.
  for (const one of [request, answer]) one.on('error', () => undefined)
  expect(answer.statusCode).toBe(200)
  await once(answer, 'readable')
  return answer
}

/** Takes 6 MB per second. Returns how long the answer went on, in ms. */
const endOf = async (answer: IncomingMessage): Promise<number> => {
  const since = performance.now()
  const { promise, resolve } = Promise.withResolvers<void>()
  const taking = setInterval(() => {
    if (answer.read(128 * 1024) === null) answer.read()
  }, 20)
  answer.once('close', resolve)
  await promise
  clearInterval(taking)
  return performance.now() - since
}

const expireToken = (id: number) =>
  first.database.sql(`update api_tokens set expires_at = now() where id = $1`, [id])

describe('an event stream ends within five seconds', () => {
  test.each<[string, () => Promise<Login>, (login: Login) => Promise<unknown>]>([
    ['its token is deleted', withToken, ({ id }) => first.admin.delete(`/api/tokens/${id}`).expect(200)],
    ['its token expires', withToken, ({ id }) => expireToken(id)],
    [
      'its login token is logged out',
      withLogin,
      ({ headers }) => first.nobody.post('/api/logout').set(headers).expect(200),
    ],
    [
      'its browser is logged out',
      withCookie,
      ({ headers }) =>
        first.nobody.delete('/api/session').set(headers).set('X-Scanfarm-Console', '1').expect(200),
    ],
    [
      'its user gets another role',
      withLogin,
      ({ id }) => first.admin.patch(`/api/users/${id}`).send({ role: 'viewer' }).expect(200),
    ],
    [
      'its user gets another password',
      withLogin,
      ({ id }) =>
        first.admin
          .patch(`/api/users/${id}`)
          .send({ password: `${PASSWORD}!` })
          .expect(200),
    ],
    ['its user is removed', withCookie, ({ id }) => first.admin.delete(`/api/users/${id}`).expect(200)],
  ])('after %s, on this and on another master', async (_what, login, end) => {
    const one = await login()
    const other = await withToken()
    const streams = await Promise.all([
      open(first, '/api/events/stream', one.headers),
      open(second, '/api/events/stream', one.headers),
    ])
    const kept = await open(second, '/api/events/stream', other.headers)
    await end(one)
    for (const ms of await Promise.all(streams.map(endOf))) expect(ms).toBeLessThan(END_MS)
    expect(kept.destroyed).toBe(false)
    kept.destroy()
  })
})

/** Stores the log of a step on the second master, and returns the run and its log. */
const runWithLog = async (status: 'running' | 'completed', bytes: number): Promise<string> => {
  await first.operator
    .post('/api/runs')
    .send({ module: 'probe', target: `${randomUUID()}.test` })
    .expect(202)
  const [run] = await claimLocalRuns(first.runStore, 1)
  if (run === undefined) throw new Error('no run was claimed')
  const logFile = `logs/${run.runUuid}.log`
  await second.artifacts.put(logFile, Readable.from([Buffer.alloc(bytes, 'x')]))
  const step = stepRecord({ status, ...(status === 'completed' && { logFile }) })
  if (status === 'completed') await endRun(first.runStore, run, {}, { steps: [step] })
  else await first.runStore.record([{ runId: run.runId, attempt: run.attempt, steps: [step] }])
  return `/api/runs/${run.runId}/steps/${step.id}/log`
}

test('a followed log ends soon after its token is deleted on another master', async () => {
  const { id, headers } = await withToken()
  const answer = await open(second, `${await runWithLog('running', 0)}?follow=true`, headers)
  await first.admin.delete(`/api/tokens/${id}`).expect(200)
  expect(await endOf(answer)).toBeLessThan(END_MS)
})

test('a download ends soon after its token is deleted on another master', async () => {
  const { id, headers } = await withToken()
  const answer = await open(second, await runWithLog('completed', 64 * 1024 * 1024), headers)
  await first.admin.delete(`/api/tokens/${id}`).expect(200)
  expect(await endOf(answer)).toBeLessThan(END_MS)
  expect(answer.complete).toBe(false)
})

describe('POST /logout', () => {
  test('makes the login token invalid in each form of its signature, and no other login', async () => {
    const { username } = await addUser()
    const [one, other] = await Promise.all(
      [1, 2].map(async () => {
        const { body } = await first.nobody
          .post('/api/login')
          .send({ username, password: PASSWORD })
          .expect(200)
        return String(body.token)
      }),
    )
    await first.nobody
      .post('/api/logout')
      .set(bearer(one ?? ''))
      .expect(200)
    const who = (token = '') => second.nobody.get('/api/session').set(bearer(token))
    await who(one).expect(401)
    // The last character of a signature has two unused bits.
    const last = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
    for (const character of last) await who(`${one?.slice(0, -1)}${character}`).expect(401)
    await who(other).expect(200)
  })

  test('keeps an API token, and deletes the row of a revoked login after its expiry', async () => {
    const token = newToken()
    await first.store.access.addToken({ name: 't', role: 'viewer', hash: tokenHash(token), expiresAt: null })
    await first.nobody.post('/api/logout').set(bearer(token)).expect(200)
    await first.nobody.get('/api/session').set(bearer(token)).expect(200)
    await first.store.access.pruneSessions()
    await first.store.access.revokeLogin('gone', new Date(Date.now() - 1_000))
    expect(await first.store.access.pruneSessions()).toBe(1)
  })
})
