import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { openServices, readConfig, removeDataDir, silentLogger, type Services } from '../src/index.ts'
import { stopPostmaster } from '../src/embedded/postmaster.ts'
import { identityOf } from '../src/embedded/process-identity.ts'
import { startUser, stopUser } from './service-user.ts'

// Ends a hang, no more: the first start makes a cluster, which takes long on a busy machine.
jest.setTimeout(300_000)

let dataDir = ''
beforeAll(() => {
  // Closed to others, as a folder below /root is.
  dataDir = join(mkdtempSync(join(tmpdir(), 'scanfarm-embedded-')), 'data')
})
afterAll(async () => {
  await removeDataDir(dataDir)
  rmSync(join(dataDir, '..'), { recursive: true })
})

const open = (
  options: { env?: Record<string, string>; queue?: boolean; searchPath?: string } = {},
): Promise<Services> =>
  openServices({
    config: readConfig({ env: { SCANFARM_DATA_DIR: dataDir, ...options.env } }),
    need: { queue: options.queue ?? false },
    log: silentLogger,
    searchPath: options.searchPath,
  })

const ask = async (url: string, sql: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query<Record<string, unknown>>(sql)).rows
  } finally {
    await client.end()
  }
}

const refuses = async (url: string): Promise<boolean> => {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  try {
    await once(socket, 'connect')
    return false
  } catch {
    return true
  } finally {
    socket.destroy()
  }
}

const cluster = (): string => join(dataDir, 'services/postgres/cluster')
const postmasterPid = (): number =>
  Number(readFileSync(join(cluster(), 'postmaster.pid'), 'utf8').split('\n')[0])
const uidOf = (pid: number): number =>
  Number(/^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])

describe('embedded Postgres', () => {
  test('runs without root rights, on the loopback address, with a password, in UTF-8', async () => {
    await using services = await open()
    expect(uidOf(postmasterPid())).not.toBe(0)
    const url = new URL(services.databaseUrl)
    expect(url.hostname).toBe('127.0.0.1')
    expect(
      await ask(
        services.databaseUrl,
        `select lower('Ä') as low, current_setting('listen_addresses') as host`,
      ),
    ).toEqual([{ low: 'ä', host: '127.0.0.1' }])
    url.password = 'wrong'
    await expect(ask(String(url), 'select 1')).rejects.toThrow('password authentication failed')
    expect(services.describe.join()).not.toMatch(new URL(services.databaseUrl).password)
  })

  test('keeps its data and its address from one start to the next, and is stopped in between', async () => {
    const first = await open()
    await ask(first.databaseUrl, 'create table kept as select 7 as n')
    await first[Symbol.asyncDispose]()
    expect(await refuses(first.databaseUrl)).toBe(true)
    await using second = await open()
    expect(second.databaseUrl).toBe(first.databaseUrl)
    expect(await ask(second.databaseUrl, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('left behind by a killed program it is adopted, and stopped by the one that adopted it', async () => {
    const user = await startUser(dataDir)
    const pid = postmasterPid()
    await stopUser(user, 'SIGKILL')
    const services = await open()
    expect(services.databaseUrl).toBe(user.databaseUrl)
    expect(postmasterPid()).toBe(pid)
    expect(services.describe[0]).toMatch('was running already')
    await services[Symbol.asyncDispose]()
    expect(await refuses(user.databaseUrl)).toBe(true)
  })

  test('killed itself, it recovers at the next start', async () => {
    const first = await open()
    await ask(first.databaseUrl, 'create table survived as select 8 as n')
    process.kill(postmasterPid(), 'SIGKILL')
    await first[Symbol.asyncDispose]()
    await using second = await open()
    expect(await ask(second.databaseUrl, 'select n from survived')).toEqual([{ n: 8 }])
  })

  test('that has ended by itself just before it was to be stopped is stopped', async () => {
    const child = spawn('true', { stdio: 'ignore' })
    const { pid = 0 } = child
    const identity = identityOf(pid) ?? `${pid}-gone`
    await once(child, 'exit')
    await expect(stopPostmaster({ pid, identity, port: 0, ready: true })).resolves.toBeUndefined()
  })

  test('starts although an old pid file names a living process of the same user', async () => {
    writeFileSync(
      join(cluster(), 'postmaster.pid'),
      `${process.pid}\n${cluster()}\n1\n1\n\n127.0.0.1\n\nready\n`,
    )
    await using services = await open()
    expect(await ask(services.databaseUrl, 'select 1 as n')).toEqual([{ n: 1 }])
  })

  test('takes another port when its own is in use', async () => {
    const first = await open()
    await first[Symbol.asyncDispose]()
    const squatter = createServer()
    squatter.listen(Number(new URL(first.databaseUrl).port), '127.0.0.1')
    await once(squatter, 'listening')
    await using second = await open()
    expect(second.databaseUrl).not.toBe(first.databaseUrl)
    squatter.close()
    await once(squatter, 'close')
  })

  test('refuses data of another major version and says what to do', async () => {
    const file = join(cluster(), 'PG_VERSION')
    const version = readFileSync(file, 'utf8')
    writeFileSync(file, '12\n')
    await expect(open()).rejects.toThrow(/made by Postgres 12 .* pg_dump/)
    writeFileSync(file, version)
  })
})

describe('two programs on one data folder', () => {
  test('share one Postgres and one Redis, which the last of them stops', async () => {
    const [one, two] = await Promise.all([startUser(dataDir), startUser(dataDir)])
    expect(two.databaseUrl).toBe(one.databaseUrl)
    expect(two.queue).toEqual(one.queue)
    expect(one.queue.kind).toBe('redis')
    expect(await stopUser(one, 'SIGTERM')).toBe(0)
    expect(await ask(two.databaseUrl, 'select 1 as n')).toEqual([{ n: 1 }])
    expect(await refuses(two.queue.url)).toBe(false)
    expect(await stopUser(two, 'SIGTERM')).toBe(0)
    expect(await refuses(two.databaseUrl)).toBe(true)
    expect(await refuses(two.queue.url)).toBe(true)
  })

  test('one that was killed does not keep the services alive', async () => {
    const [one, two] = await Promise.all([startUser(dataDir), startUser(dataDir)])
    await stopUser(one, 'SIGKILL')
    await stopUser(two, 'SIGTERM')
    expect(await refuses(two.databaseUrl)).toBe(true)
    expect(await refuses(two.queue.url)).toBe(true)
  })
})

describe('the queue', () => {
  test('is on Postgres where no Redis is on PATH', async () => {
    await using services = await open({ queue: true, searchPath: '' })
    expect(services.queue).toEqual({ kind: 'postgres', url: services.databaseUrl })
    expect(services.describe[1]).toMatch('no redis-server or valkey-server on PATH')
  })

  test('asked to be on Redis without one, says every choice', async () => {
    await expect(open({ queue: true, searchPath: '', env: { SCANFARM_QUEUE: 'redis' } })).rejects.toThrow(
      /set REDIS_URL, install redis-server, or set SCANFARM_QUEUE=postgres/,
    )
  })

  test('is on Postgres when asked, although there is a Redis', async () => {
    await using services = await open({ queue: true, env: { SCANFARM_QUEUE: 'postgres' } })
    expect(services.queue).toEqual({ kind: 'postgres', url: services.databaseUrl })
  })

  test.each(['true', 'false'])('is on a Redis of our own that keeps what it has: %s', async (keep) => {
    await using services = await open({ queue: true, env: { SCANFARM_REDIS_KEEP: keep } })
    expect(services.queue?.kind).toBe('redis')
    expect(existsSync(join(dataDir, 'services/redis/data/appendonlydir'))).toBe(keep === 'true')
    rmSync(join(dataDir, 'services/redis/data'), { recursive: true })
  })

  test('is not opened when it is not needed', async () => {
    await using services = await open({ env: { DATABASE_URL: 'postgres://u:p@db.example/farm' } })
    expect(services.queue).toBeNull()
    expect(services.describe).toEqual(['database: Postgres at db.example/farm (DATABASE_URL)'])
  })

  test('beside a given database is never on a Redis that other machines cannot reach', async () => {
    await using services = await open({
      queue: true,
      env: { DATABASE_URL: 'postgres://u:p@db.example/farm' },
    })
    expect(services.queue?.kind).toBe('postgres')
  })

  test('uses the Redis that was given', async () => {
    const env = { DATABASE_URL: 'postgres://u:p@db.example/farm', REDIS_URL: 'redis://:pw@r.example:6379' }
    await using services = await open({ queue: true, env })
    expect(services.queue).toEqual({ kind: 'redis', url: 'redis://:pw@r.example:6379' })
    expect(services.describe[1]).toBe('queue: Redis at r.example:6379 (REDIS_URL)')
  })
})
