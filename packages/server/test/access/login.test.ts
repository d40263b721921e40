import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { until } from '@scanfarm/testing'
import { PasswordCheckQueue } from '../../src/access/password-check-queue.ts'
import { testServer, type TestServer } from '../_server.ts'

const PASSWORD = 'correct horse battery'
const SETTINGS = { settings: { 'http.trust_proxy': ['127.0.0.1'] } }

let first: TestServer
let second: TestServer
beforeAll(async () => {
  first = await testServer(SETTINGS)
  second = await testServer({ ...SETTINGS, database: first.database })
  await first.admin
    .post('/api/users')
    .send({ username: 'kim', password: PASSWORD, role: 'viewer' })
    .expect(201)
})
afterAll(async () => {
  await second[Symbol.asyncDispose]()
  await first[Symbol.asyncDispose]()
})

const login = async (server: TestServer, address: string, username = 'kim', password = PASSWORD) =>
  server.nobody.post('/login').set('X-Forwarded-For', address).send({ username, password })

describe('Failed logins from other addresses, on two masters', () => {
  test('failed logins from other addresses neither lock a user out nor slow down an address with an earlier login', async () => {
    expect((await login(first, '10.0.0.1')).status).toBe(200)
    const tries = Array.from({ length: 30 }, (_, index) =>
      login(index % 2 === 0 ? first : second, `10.1.0.${index}`, 'kim', 'wrong'),
    )
    let ended = 0
    const others = Promise.all(tries.map((one) => one.finally(() => (ended += 1))))
    // The other attempts are counted by then, and most of them are delayed.
    while (ended === 0) await new Promise(setImmediate)
    expect((await login(second, '10.0.0.1')).status).toBe(200)
    expect(ended).toBeLessThan(30)
    expect((await others).map(({ status }) => status)).toEqual(Array(30).fill(401))
    const since = performance.now()
    expect((await login(first, '10.2.0.1')).status).toBe(200)
    // Delayed, but not refused.
    expect(performance.now() - since).toBeGreaterThanOrEqual(2_900)
  })

  test('failed logins count per address across all names and masters, and IPv6 addresses count by their network', async () => {
    const statuses: number[] = []
    for (let index = 0; index < 20; index++) {
      const server = index % 2 === 0 ? first : second
      statuses.push((await login(server, `2001:db8:1:2::${index}`, `name-${index}`, 'wrong')).status)
    }
    expect(statuses).toEqual(Array(20).fill(401))
    // The wait starts at a second and doubles: on a busy machine a login takes longer than the first.
    await until(async () => (await login(first, '2001:db8:1:2::fffe', 'next', 'wrong')).status === 429)
    await until(async () => (await login(second, '2001:db8:1:2::ffff', 'one more', 'wrong')).status === 429)
    expect((await login(second, '2001:db8:1:3::1', 'one more', 'wrong')).status).toBe(401)
  })
})

describe('PasswordCheckQueue', () => {
  test('the queue reserves one check for known addresses and limits the waiting ones', async () => {
    const slots = new PasswordCheckQueue({ most: 3, mostWaiting: 2 })
    const ends: (() => void)[] = []
    const started: string[] = []
    const start = (name: string, known: boolean) =>
      slots.run(known, async () => {
        started.push(name)
        const { promise, resolve } = Promise.withResolvers<void>()
        ends.push(resolve)
        await promise
      })
    const all = ['a', 'b', 'c', 'd'].map((name) => start(name, false))
    await expect(start('e', false)).rejects.toMatchObject({ code: 'unavailable', retryAfter: 2 })
    all.push(start('known', true), start('known too', true))
    await Promise.resolve()
    expect(started).toEqual(['a', 'b', 'known'])
    for (const more of ['known too', 'c', 'd']) {
      while (started.at(-1) !== more) {
        ends.shift()?.()
        await new Promise(setImmediate)
      }
    }
    const ended = Promise.all(all)
    for (const end of ends) end()
    await ended
    expect(started).toEqual(['a', 'b', 'known', 'known too', 'c', 'd'])
  })
})
