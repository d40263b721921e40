import { spawn } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals'
import pg from 'pg'
import { Secret, silentLogger } from '@scanfarm/platform'
import { openServices, removeDataDir, type Services } from '../src/index.ts'
import { poll } from '../src/poll.ts'
import { findPostmaster, stopPostmaster } from '../src/postmaster.ts'
import { identityOf } from '../src/process-identity.ts'
import { startUser, stopUser } from './service-user.ts'

// Only ends a hang: the first start creates a database cluster, which is slow on a busy machine.
jest.setTimeout(300_000)

let dataDir = ''
beforeAll(() => {
  // Other users cannot enter the folder, like one below /root.
  dataDir = join(mkdtempSync(join(tmpdir(), 'scanfarm-embedded-')), 'data')
})
afterAll(async () => {
  await removeDataDir(dataDir)
  rmSync(join(dataDir, '..'), { recursive: true })
})

interface Options {
  readonly databaseUrl?: string
  readonly redisUrl?: string
  readonly kind?: 'auto' | 'redis' | 'postgres'
  readonly queue?: boolean
  readonly farm?: boolean
  readonly searchPath?: string
}

const secret = (text: string | undefined): Secret | undefined =>
  text === undefined ? undefined : new Secret(text)

const open = (options: Options = {}): Promise<Services> =>
  openServices({
    config: {
      dataDir,
      database: { url: secret(options.databaseUrl), directUrl: undefined },
      redis: { url: secret(options.redisUrl) },
      queue: { kind: options.kind ?? 'auto' },
    },
    need: { queue: options.queue ?? false, farm: options.farm ?? false },
    log: silentLogger,
    searchPath: options.searchPath,
  })

const query = async (url: string, sql: string): Promise<unknown[]> => {
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

describe('the embedded Postgres', () => {
  test('The embedded Postgres runs without root rights, on the loopback address, with a password, in UTF-8', async () => {
    await using services = await open()
    expect(uidOf(postmasterPid())).not.toBe(0)
    const url = new URL(services.databaseUrl)
    expect(url.hostname).toBe('127.0.0.1')
    expect(
      await query(
        services.databaseUrl,
        `select lower('Ä') as low, current_setting('listen_addresses') as host`,
      ),
    ).toEqual([{ low: 'ä', host: '127.0.0.1' }])
    url.password = 'wrong'
    await expect(query(String(url), 'select 1')).rejects.toThrow('password authentication failed')
    expect(services.describe.join()).not.toMatch(new URL(services.databaseUrl).password)
  })

  test('The embedded Postgres keeps its data and its address across restarts', async () => {
    const first = await open()
    await query(first.databaseUrl, 'create table kept as select 7 as n')
    await first[Symbol.asyncDispose]()
    expect(await refuses(first.databaseUrl)).toBe(true)
    await using second = await open()
    expect(second.databaseUrl).toBe(first.databaseUrl)
    expect(await query(second.databaseUrl, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('The embedded Postgres is adopted after its program was killed, and stopped by the program that adopted it', async () => {
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

  test('The embedded Postgres recovers at the next start after it was killed', async () => {
    const first = await open()
    await query(first.databaseUrl, 'create table survived as select 8 as n')
    process.kill(postmasterPid(), 'SIGKILL')
    await first[Symbol.asyncDispose]()
    await using second = await open()
    expect(await query(second.databaseUrl, 'select n from survived')).toEqual([{ n: 8 }])
  })

  test('The embedded Postgres is started again if it got TERM, although another program is still connected', async () => {
    await using first = await open()
    const client = new pg.Client({ connectionString: first.databaseUrl })
    client.on('error', () => undefined)
    await client.connect()
    const pid = postmasterPid()
    process.kill(pid, 'SIGTERM')
    const data = realpathSync(cluster())
    await poll(async () => (await findPostmaster(data))?.stopping === true || undefined, 30_000)
    await using second = await open()
    expect(postmasterPid()).not.toBe(pid)
    expect(await query(second.databaseUrl, 'select 1 as one')).toEqual([{ one: 1 }])
    await client.end()
  })

  test('The embedded Postgres can be stopped after it has already exited', async () => {
    const child = spawn('true', { stdio: 'ignore' })
    const { pid = 0 } = child
    const identity = identityOf(pid) ?? `${pid}-gone`
    await once(child, 'exit')
    await expect(
      stopPostmaster({ pid, identity, port: 0, ready: true, stopping: false }),
    ).resolves.toBeUndefined()
  })

  test('The embedded Postgres starts although an old pid file names a living process of the same user', async () => {
    writeFileSync(
      join(cluster(), 'postmaster.pid'),
      `${process.pid}\n${cluster()}\n1\n1\n\n127.0.0.1\n\nready\n`,
    )
    await using services = await open()
    expect(await query(services.databaseUrl, 'select 1 as n')).toEqual([{ n: 1 }])
  })

  test('The embedded Postgres takes another port when its own is in use', async () => {
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

  test('The embedded Postgres refuses data of another major version with instructions', async () => {
    const file = join(cluster(), 'PG_VERSION')
    const version = readFileSync(file, 'utf8')
    writeFileSync(file, '12\n')
    await expect(open()).rejects.toThrow(/made by Postgres 12 .* pg_dump/)
    writeFileSync(file, version)
  })
})

describe('programs that share a data folder', () => {
  test('Two programs on one data folder share one Postgres and one Redis, which the last program stops', async () => {
    const [one, two] = await Promise.all([startUser(dataDir), startUser(dataDir)])
    expect(two.databaseUrl).toBe(one.databaseUrl)
    expect(two.queue).toEqual(one.queue)
    expect(one.queue.kind).toBe('redis')
    expect(await stopUser(one, 'SIGTERM')).toBe(0)
    expect(await query(two.databaseUrl, 'select 1 as n')).toEqual([{ n: 1 }])
    expect(await refuses(two.queue.url)).toBe(false)
    expect(await stopUser(two, 'SIGTERM')).toBe(0)
    expect(await refuses(two.databaseUrl)).toBe(true)
    expect(await refuses(two.queue.url)).toBe(true)
  })

  test('A killed program no longer counts as a user of the services, and the last other one stops them', async () => {
    const [one, two] = await Promise.all([startUser(dataDir), startUser(dataDir)])
    await stopUser(one, 'SIGKILL')
    await stopUser(two, 'SIGTERM')
    expect(await refuses(two.databaseUrl)).toBe(true)
    expect(await refuses(two.queue.url)).toBe(true)
  })
})

describe('a worker without addresses', () => {
  test('It is refused with the setting to give, and starts no database, unless a farm runs on the machine', async () => {
    await expect(open({ farm: true })).rejects.toThrow(
      'this worker has no farm: database.url (DATABASE_URL) is not set',
    )
    await using master = await open()
    await using worker = await open({ farm: true })
    expect(worker.databaseUrl).toBe(master.databaseUrl)
  })
})

describe('the queue', () => {
  test('The queue is on Postgres if no Redis is on PATH', async () => {
    await using services = await open({ queue: true, searchPath: '' })
    expect(services.queue).toMatchObject({ kind: 'postgres', url: services.databaseUrl })
    expect(services.describe[1]).toMatch('no redis-server or valkey-server on PATH')
  })

  test('The queue cannot be on Redis without a server, and the error names every choice', async () => {
    await expect(open({ queue: true, searchPath: '', kind: 'redis' })).rejects.toThrow(
      /set REDIS_URL, install redis-server, or set SCANFARM_QUEUE=postgres/,
    )
  })

  test('The queue is on Postgres if the setting requires it, even if there is a Redis', async () => {
    await using services = await open({ queue: true, kind: 'postgres' })
    expect(services.queue).toMatchObject({ kind: 'postgres', url: services.databaseUrl })
  })

  test('The queue is on an embedded Redis whose content is kept', async () => {
    await using services = await open({ queue: true })
    expect(services.queue?.kind).toBe('redis')
    expect(existsSync(join(dataDir, 'services/redis/data/appendonlydir'))).toBe(true)
    rmSync(join(dataDir, 'services/redis/data'), { recursive: true })
  })

  test('The queue is not opened if it is not needed', async () => {
    await using services = await open({ databaseUrl: 'postgres://u:p@db.example/farm' })
    expect(services.queue).toBeNull()
    expect(services.describe).toEqual(['database: Postgres at db.example/farm (DATABASE_URL)'])
  })

  test('The queue is never on an embedded Redis if the database is given, because other machines cannot reach it', async () => {
    await using services = await open({
      queue: true,
      databaseUrl: 'postgres://u:p@db.example/farm',
    })
    expect(services.queue?.kind).toBe('postgres')
  })

  test('The queue is on the given Redis', async () => {
    await using services = await open({
      queue: true,
      databaseUrl: 'postgres://u:p@db.example/farm',
      redisUrl: 'redis://:pw@r.example:6379',
    })
    expect(services.queue).toEqual({ kind: 'redis', url: 'redis://:pw@r.example:6379' })
    expect(services.describe[1]).toBe('queue: Redis at r.example:6379 (REDIS_URL)')
  })
})
