import { beforeEach, describe, expect, test } from '@jest/globals'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { asSuperuser, testDatabase } from './database.ts'
import { openRunStore, openStore } from '../src/index.ts'

const db = forAllTests(() => testDatabase())
beforeEach(() =>
  db.sql('truncate api_tokens, users, login_addresses, login_failures, uploaded_workflows cascade'),
)
const numberOf = (text: string) =>
  asSuperuser(async (client) => Number((await client.query<{ n: string }>(text)).rows[0]?.n), db.url)
const PAGE = { offset: 0, limit: 20 }

describe('tokens', () => {
  test('A token is found by its hash until it expires or is removed', async () => {
    const { access } = db.store
    const token = await access.addToken({ name: 'ci', role: 'operator', hash: 'h1', expiresAt: null })
    expect(token).toMatchObject({ name: 'ci', role: 'operator', expires_at: null, last_used_at: null })
    await access.addToken({ name: 'old', role: 'admin', hash: 'h2', expiresAt: new Date(Date.now() - 1_000) })
    await access.addToken({
      name: 'new',
      role: 'viewer',
      hash: 'h3',
      expiresAt: new Date(Date.now() + 60_000),
    })
    expect(await access.tokenByHash('h1')).toEqual({ id: token.id, name: 'ci', role: 'operator' })
    expect(await access.tokenByHash('h2')).toBeUndefined()
    expect(await access.tokenByHash('h3')).toMatchObject({ role: 'viewer' })
    expect(await access.tokenByHash('h4')).toBeUndefined()
    const listed = await access.tokens(PAGE)
    expect(listed.total).toBe(3)
    expect(listed.data.map((one) => one.name)).toEqual(['new', 'old', 'ci'])
    expect(JSON.stringify(listed)).not.toContain('h1')
    expect(await access.removeToken(token.id)).toBe(true)
    expect(await access.removeToken(token.id)).toBe(false)
    expect(await access.tokenByHash('h1')).toBeUndefined()
  })

  test('The last use of a token is recorded at most once a minute', async () => {
    const { access } = db.store
    await access.addToken({ name: 'ci', role: 'admin', hash: 'h1', expiresAt: null })
    const used = async () => {
      await access.tokenByHash('h1')
      return (await access.tokens(PAGE)).data[0]?.last_used_at
    }
    const first = await used()
    expect(first).not.toBeNull()
    expect(await used()).toBe(first)
    await db.sql("update api_tokens set last_used_at = now() - interval '2 minutes'")
    expect(await used()).not.toBe(first)
  })

  test('Only one of several masters that start at once creates the first token', async () => {
    const { access } = db.store
    expect(await access.anyToken()).toBe(false)
    const made = await Promise.all(
      Array.from({ length: 6 }, (_, n) =>
        access.addFirstToken({ name: `first ${n}`, role: 'admin', hash: `h${n}` }),
      ),
    )
    expect(made.filter((one) => one !== undefined)).toHaveLength(1)
    expect(await access.anyToken()).toBe(true)
    expect((await access.tokens(PAGE)).total).toBe(1)
  })
})

describe('users', () => {
  test('A user is added once by name, changed, found and removed', async () => {
    const { access } = db.store
    const user = await access.addUser({ username: 'ann', role: 'viewer', passwordHash: 'p1' })
    if (!user) throw new Error('not added')
    expect(await access.addUser({ username: 'ann', role: 'admin', passwordHash: 'p2' })).toBeUndefined()
    expect(await access.userByName('ann')).toEqual({ ...user, passwordHash: 'p1' })
    expect(await access.userByName('an\0n')).toBeUndefined()
    expect(await access.userByName('bob')).toBeUndefined()
    expect(await access.setUser(user.id, { role: 'admin' })).toMatchObject({ role: 'admin' })
    expect(await access.setUser(user.id, { passwordHash: 'p3' })).toMatchObject({ role: 'admin' })
    expect((await access.userByName('ann'))?.passwordHash).toBe('p3')
    expect(await access.userById(user.id)).toEqual({ ...user, role: 'admin' })
    expect((await access.users(PAGE)).data).toEqual([{ ...user, role: 'admin' }])
    expect(await access.removeUser(user.id)).toBe(true)
    expect(await access.userById(user.id)).toBeUndefined()
    expect(await access.setUser(user.id, { role: 'viewer' })).toBeUndefined()
  })
})

describe('failed logins', () => {
  const tries = async (count: number, name: string, address: (index: number) => string) => {
    const found = []
    for (let index = 0; index < count; index++)
      found.push(await db.store.access.loginAttempt(name, address(index)))
    return found
  }
  const expire = () => db.sql('update login_failures set wait_until = now() where wait_until > now()')

  test('Failed logins of one name from one address are free at first, then wait longer each time, and expire', async () => {
    const { access } = db.store
    const waits: number[] = []
    for (let n = 0; n < 12; n++) {
      expect((await access.loginAttempt('ann', 'a')).waitMs).toBe(0)
      waits.push(
        await numberOf(
          "select extract(epoch from wait_until - last_at) as n from login_failures where key like 'pair:%'",
        ),
      )
      await expire()
    }
    expect(waits).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 60])
    await access.addUser({ username: 'ann', role: 'viewer', passwordHash: 'x' })
    await access.loginSucceeded('ann', 'a')
    expect(await tries(5, 'ann', () => 'a')).toEqual(Array(5).fill({ known: true, waitMs: 0, slow: false }))
    await db.sql("update login_failures set last_at = now() - interval '16 minutes', wait_until = now()")
    expect((await access.loginAttempt('ann', 'a')).waitMs).toBe(0)
    expect((await access.loginAttempt('x'.repeat(10_000), 'y'.repeat(1_000))).waitMs).toBe(0)
    expect((await access.loginAttempt('nul\0', '\ud800')).waitMs).toBe(0)
  })

  test('Failed logins from other addresses never lock a name out, and do not slow down a known address', async () => {
    const { access } = db.store
    await access.addUser({ username: 'ann', role: 'viewer', passwordHash: 'x' })
    await access.loginAttempt('ann', 'home')
    await access.loginSucceeded('ann', 'home')
    const others = await tries(100, 'ann', (index) => `address-${index}`)
    expect(others.every(({ waitMs, known }) => waitMs === 0 && !known)).toBe(true)
    expect(others.at(-1)?.slow).toBe(true)
    expect(await access.loginAttempt('ann', 'home')).toEqual({ known: true, waitMs: 0, slow: false })
    expect(await access.loginAttempt('ann', 'new place')).toEqual({ known: false, waitMs: 0, slow: true })
    // A pair of name and address is known, not the address alone.
    expect((await access.loginAttempt('bob', 'home')).known).toBe(false)
  })

  test('Failed logins from one address count for all names together, but not against its users', async () => {
    const { access } = db.store
    await access.addUser({ username: 'ann', role: 'viewer', passwordHash: 'x' })
    await access.loginSucceeded('ann', 'office')
    for (let index = 0; index < 21; index++) await access.loginAttempt(`name-${index}`, 'office')
    expect((await access.loginAttempt('one more', 'office')).waitMs).toBeGreaterThan(0)
    expect((await access.loginAttempt('ann', 'office')).waitMs).toBe(0)
    expect((await access.loginAttempt('one more', 'elsewhere')).waitMs).toBe(0)
    await expire()
    expect((await access.loginAttempt('one more', 'office')).waitMs).toBe(0)
  })

  test('Failed logins of one name from many addresses slow down unknown addresses', async () => {
    const many = await tries(101, 'ann', (index) => `address-${index}`)
    expect(many.at(-1)?.slow).toBe(true)
    expect((await db.store.access.loginAttempt('another name', 'elsewhere')).slow).toBe(true)
    await db.sql("update login_failures set wait_until = now() - interval '1 second'")
    expect((await db.store.access.loginAttempt('another name', 'elsewhere')).slow).toBe(false)
  })

  test('A login is counted before its check and by all masters together, so concurrent logins get no extra attempts', async () => {
    await using other = await openStore({ url: db.url, poolSize: 4, applicationName: 'other master' })
    const stores = [db.store, other]
    const answers = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => stores[index % 2]?.access.loginAttempt('ann', 'a')),
    )
    const allowed = answers.filter((answer) => answer?.waitMs === 0).length
    expect(allowed).toBeGreaterThanOrEqual(6)
    // Calls that read the count before the first of them has increased it.
    expect(allowed).toBeLessThan(25)
    expect((await other.access.loginAttempt('ann', 'a')).waitMs).toBeGreaterThan(0)
  })

  test('The rows of failed logins are bounded, and so are the addresses of a user', async () => {
    const { access } = db.store
    await db.sql(`insert into login_failures select 'old:' || n, 1, now() - interval '1 hour', now()
               from generate_series(1, 5000) n`)
    await db.sql(`insert into login_failures select 'new:' || n, 1, now() - n * interval '1 ms', now()
               from generate_series(1, 105000) n`)
    const user = await access.addUser({ username: 'ann', role: 'viewer', passwordHash: 'x' })
    const rows = () => numberOf('select count(*) as n from login_failures')
    for (let index = 0; index < 2_000 && (await rows()) > 100_100; index++)
      await access.loginAttempt('ann', `address-${index % 50}`).then(expire)
    expect(await rows()).toBeLessThanOrEqual(100_100)
    for (let index = 0; index < 30; index++) await access.loginSucceeded('ann', `address-${index}`)
    expect(await numberOf(`select count(*) as n from login_addresses where user_id = ${user?.id}`)).toBe(20)
    expect((await access.loginAttempt('ann', 'address-29')).known).toBe(true)
    expect((await access.loginAttempt('ann', 'address-0')).known).toBe(false)
  })
})

test('A login that began before another of its address waits for nothing', async () => {
  const { access } = db.store
  await asSuperuser(async (client) => {
    await client.query('begin')
    await client.query('select now()')
    await access.loginAttempt('ann', 'office')
    const waits = await client.query<{ login: number; secret: number }>(
      `select (select wait_ms from login_attempt('bob', 'office', 'hash', 5, 60000, 100)) as login,
              (select wait_ms from secret_attempt('office', 5, 60000, 100)) as secret`,
    )
    expect(waits.rows).toEqual([{ login: 0, secret: 0 }])
  }, db.url)
})

describe('shared state of masters', () => {
  test('The id of the farm and its signing key are generated once', async () => {
    await using other = await openStore({ url: db.url, poolSize: 2, applicationName: 'other master' })
    const [a, b] = await Promise.all([db.store.farmId(), other.farmId()])
    expect(a).toMatch(/^[0-9a-f]{12}$/)
    expect(b).toBe(a)
    const [key, same] = await Promise.all([db.store.signingKey(), other.signingKey()])
    expect(key).toHaveLength(32)
    expect(Buffer.from(same)).toEqual(Buffer.from(key))
  })

  test('The version of the uploaded workflows grows with each change', async () => {
    const { workflows } = db.store
    const before = await workflows.version()
    const file = { name: 'probe', kind: 'flow', yaml: 'a: 1', hash: 'h', by: 'ann' } as const
    await workflows.put(file)
    await workflows.put({ ...file, kind: 'module' })
    await workflows.put({ ...file, yaml: 'a: 2' })
    expect(await workflows.version()).toBe(before + 3)
    expect(await workflows.list()).toMatchObject([
      { name: 'probe', kind: 'flow', yaml: 'a: 2' },
      { name: 'probe', kind: 'module', yaml: 'a: 1' },
    ])
  })

  test('An unreachable database is reported as unavailable', async () => {
    await using away = await openStore({
      url: 'postgres://nobody@127.0.0.1:1/none',
      poolSize: 1,
      applicationName: 'test',
    })
    await using worker = await openRunStore({
      url: 'postgres://nobody@127.0.0.1:1/none',
      poolSize: 1,
      applicationName: 'test',
    })
    for (const call of [
      worker.farmId(),
      away.check(),
      away.runs.find('1'),
      away.access.anyToken(),
      away.farmId(),
    ]) {
      await expect(call).rejects.toMatchObject({ code: 'unavailable', status: 503, retryAfter: 2 })
    }
  })
})
