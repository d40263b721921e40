import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Redis } from 'ioredis'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { freePort, until } from '@scanfarm/testing'
import { openRunQueue, QueueSetupError } from '../src/index.ts'
import { redisAddress } from '../src/redis/address.ts'
import { RIGHTS } from '../src/redis/rights.ts'
import { added, message, newFarm, patience, quiet, serveAll } from './backends.ts'
import { startRedis, type RedisServer } from './redis-server.ts'

const run = promisify(execFile)
const portOf = (server: RedisServer): string => new URL(server.url).port

const open = (url: string) =>
  openRunQueue({ kind: 'redis', url }, { farmId: newFarm(), role: 'master', log: quiet })

const refusal = async (url: string): Promise<string> => {
  await using queue = await open(url)
  const error: unknown = await queue.check().catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(QueueSetupError)
  return String(error)
}

const roundTrip = async (url: string): Promise<void> => {
  await using queue = await open(url)
  await queue.check()
  const cancelled: number[] = []
  await using _listening = await queue.onSignal(({ runIds }) => cancelled.push(...runIds))
  await using consumer = queue.consumer(serveAll)
  const taking = consumer.take(1, patience())
  await queue.add([message(1)])
  const [delivery] = await taking
  expect(delivery?.runId).toBe(1)
  await delivery?.ack()
  expect(await queue.waiting('')).toMatchObject({ normal: 0 })
  await queue.publishCancel([{ runId: 7 }])
  await until(() => cancelled.includes(7))
}

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'scanfarm-redis-kinds-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('addresses', () => {
  test.each([
    ['redis://localhost', { host: 'localhost', port: 6379, db: 0 }],
    ['valkey://u:p%40s@h:1/3', { host: 'h', port: 1, username: 'u', password: 'p@s', db: 3 }],
    ['valkeys://:p@[::1]:1', { host: '::1', port: 1, password: 'p', tls: {}, db: 0 }],
    [
      'redis+sentinel://:p@a:1,b/farm/2?sentinel_password=q',
      {
        sentinels: [
          { host: 'a', port: 1 },
          { host: 'b', port: 26379 },
        ],
        name: 'farm',
        password: 'p',
        sentinelPassword: 'q',
        db: 2,
      },
    ],
  ])('%s is accepted', async (url, options) => {
    expect((await redisAddress({ url })).options).toEqual(options)
  })

  test.each([
    ['/var/run/redis.sock', 'is not a URL of Redis'],
    ['unix:///var/run/redis.sock', 'is not a URL of Redis'],
    ['http://:secret@h', 'has the unknown scheme http'],
    ['redis+sentinel://a:1,b:2', 'names no group of servers'],
    ['redis://a:1,b:2', 'names several servers without +sentinel'],
    ['redis://h:99999', 'has no valid host and port'],
    ['redis://h/first', 'has a database that is not a number'],
  ])('%s is refused with the forms that there are', async (url, problem) => {
    const error: unknown = await open(url).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(QueueSetupError)
    expect(String(error)).toContain(problem)
    expect(String(error)).toContain('redis+sentinel://')
    expect(String(error)).not.toContain('secret')
  })
})

describe('servers that cannot hold the queue', () => {
  test('A node of a cluster is refused', async () => {
    await using server = await startRedis([
      '--cluster-enabled',
      'yes',
      '--cluster-config-file',
      join(folder, 'nodes.conf'),
    ])
    expect(await refusal(server.url)).toContain('is a node of a cluster')
  })

  test('A replica is refused with the address of its primary', async () => {
    await using primary = await startRedis()
    await using replica = await startRedis(['--replicaof', '127.0.0.1', portOf(primary)])
    expect(await refusal(replica.url)).toContain(
      `set redis.url (REDIS_URL) to its primary, 127.0.0.1:${portOf(primary)}`,
    )
  })
})

describe('logins with few rights', () => {
  const server = forAllTests(startRedis)

  const login = async (name: string, rights: string): Promise<string> => {
    const client = new Redis(server.url)
    await client.call('acl', 'setuser', name, 'reset', 'on', '>secret', ...rights.split(' '))
    client.disconnect()
    return server.url.replace('redis://', `redis://${name}:secret@`)
  }

  test('The rights that a refusal names are enough', async () => {
    await roundTrip(await login('enough', RIGHTS))
  })

  test.each([
    '~scanfarm:*',
    '&scanfarm:*',
    '+@read',
    '+@write',
    '+@blocking',
    '+@scripting',
    '+@pubsub',
    '+info',
  ])('A login without %s is refused with the rights to give', async (right) => {
    const less = RIGHTS.split(' ').filter((one) => one !== right)
    const without = right === '+@blocking' ? [...less, '-@blocking'] : less
    const text = await refusal(await login('few', without.join(' ')))
    expect(text).toContain(`ACL SETUSER <login> ${RIGHTS}`)
    expect(text).not.toContain('secret')
  })

  test('A wrong password is refused as such', async () => {
    await login('known', RIGHTS)
    const url = server.url.replace('redis://', 'redis://known:wrong@')
    expect(await refusal(url)).toContain('refuses the login of redis.url')
  })
})

test('A server with a certificate of an own authority is reached with that authority only', async () => {
  const at = (name: string) => join(folder, name)
  const subject = [
    '-subj',
    '/CN=test',
    '-days',
    '2',
    '-nodes',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
  ]
  const names = ['-addext', 'subjectAltName=IP:127.0.0.1']
  await run('openssl', ['req', '-x509', ...subject, '-keyout', at('ca.key'), '-out', at('ca.pem')])
  const signed = ['-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-addext', 'basicConstraints=CA:FALSE']
  await run('openssl', [
    'req',
    '-x509',
    ...subject,
    ...names,
    ...signed,
    '-keyout',
    at('tls.key'),
    '-out',
    at('tls.pem'),
  ])
  const port = await freePort()
  const files = [
    '--tls-cert-file',
    at('tls.pem'),
    '--tls-key-file',
    at('tls.key'),
    '--tls-ca-cert-file',
    at('ca.pem'),
  ]
  await using _server = await startRedis(['--tls-port', String(port), '--tls-auth-clients', 'no', ...files])
  const url = `rediss://127.0.0.1:${port}`
  await roundTrip(`${url}?ca=${at('ca.pem')}`)
  await using stranger = await open(url)
  await expect(stranger.check()).rejects.toThrow('cannot be reached')
  await expect(open(`${url}?ca=${at('missing.pem')}`)).rejects.toThrow('the certificates of redis.url')
  await expect(open(`redis://127.0.0.1?ca=${at('ca.pem')}`)).rejects.toThrow('but no TLS')
})

describe('sentinels', () => {
  const startSentinel = async (primary: RedisServer) => {
    const port = await freePort()
    const file = join(folder, `sentinel-${port}.conf`)
    await writeFile(
      file,
      `port ${port}\nbind 127.0.0.1\ndir ${folder}\nsentinel monitor farm 127.0.0.1 ${portOf(primary)} 1\n` +
        'sentinel down-after-milliseconds farm 500\nsentinel failover-timeout farm 3000\n',
    )
    const child = spawn('redis-server', [file, '--sentinel'], { stdio: 'ignore' })
    const ended = once(child, 'exit')
    const client = new Redis(port, '127.0.0.1')
    client.on('error', () => undefined)
    return {
      port,
      knowsReplica: async () =>
        Array.isArray(
          await client
            .call('sentinel', 'replicas', 'farm')
            .then((all) => (Array.isArray(all) && all.length > 0 ? all : null)),
        ),
      async [Symbol.asyncDispose]() {
        client.disconnect()
        child.kill('SIGKILL')
        await ended
      },
    }
  }

  test('A failover under load costs no message that the queue still has to deliver', async () => {
    await using primary = await startRedis()
    await using _replica = await startRedis(['--replicaof', '127.0.0.1', portOf(primary)])
    await using sentinel = await startSentinel(primary)
    await until(sentinel.knowsReplica)
    expect(await refusal(`redis://127.0.0.1:${sentinel.port}`)).toContain('is a sentinel, not a Redis server')
    const url = `redis+sentinel://127.0.0.1:${sentinel.port}/farm`
    await roundTrip(url)
    await using queue = await open(url)
    await queue.check()
    const before = await queue.generation()
    await using consumer = queue.consumer(serveAll)
    const taken = new Set<number>()
    const stop = new AbortController()
    const consuming = (async () => {
      while (!stop.signal.aborted)
        for (const delivery of await consumer.take(10, stop.signal)) {
          taken.add(delivery.runId)
          await delivery.ack().catch(() => undefined)
        }
    })()
    // Like the reconciler, which adds again what the queue has lost.
    const wanted = Array.from({ length: 400 }, (_, n) => n + 1)
    const missing = () => wanted.filter((id) => !taken.has(id))
    const addAgain = () =>
      added(
        queue,
        missing()
          .slice(0, 50)
          .map((runId) => message(runId)),
      )
    await until(async () => (await addAgain(), taken.size > 100))
    await primary.kill()
    await until(async () => (await addAgain(), missing().length === 0))
    stop.abort()
    await consuming
    expect(await queue.generation()).not.toBe(before)
    await queue.check()
  })
})
