import { randomUUID } from 'node:crypto'
import pg from 'pg'
import type { Priority } from '@scanfarm/contracts'
import type { QueueBackend, QueueLog, QueueMessage, RunQueue } from '../src/index.ts'
import { startRedis } from './redis-server.ts'

export { startRedis, type RedisServer } from './redis-server.ts'

/** A backend for one test file; disposing deletes its contents. */
export interface TestBackend extends AsyncDisposable {
  readonly backend: QueueBackend
}

export const quiet: QueueLog = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

export const message = (
  runId: number,
  priority: Priority = 'normal',
  requirementClass = '',
  epoch = 1,
): QueueMessage => ({ runId, epoch, priority, requirementClass, share: { jobNo: 1, owner: '', weight: 1 } })
export const serveAll = { serves: () => true }
export const patience = (): AbortSignal => AbortSignal.timeout(60_000)

/** Repeats the call if the backend times out on a busy machine: adding a message twice has no effect. */
export const added = (queue: RunQueue, messages: readonly QueueMessage[]): Promise<boolean> =>
  queue.add(messages).then(
    () => true,
    () => false,
  )

/** Tests on one backend are isolated if each has its own farm. */
export const newFarm = (): string => randomUUID()

/** The Redis of `SCANFARM_TEST_REDIS_URL`, otherwise one that is started for the caller. */
export const redisBackend = async (): Promise<TestBackend> => {
  const url = process.env['SCANFARM_TEST_REDIS_URL']
  if (url) return { backend: { kind: 'redis', url }, async [Symbol.asyncDispose]() {} }
  const server = await startRedis()
  return { backend: { kind: 'redis', url: server.url }, [Symbol.asyncDispose]: () => server.kill() }
}

/** A new database on the server of `SCANFARM_TEST_DATABASE_URL`, whose user may create databases. */
export const postgresBackend = async (): Promise<TestBackend> => {
  const admin = process.env['SCANFARM_TEST_DATABASE_URL']
  if (!admin)
    throw new Error(
      'set SCANFARM_TEST_DATABASE_URL to a Postgres whose user may create databases (see README)',
    )
  const name = `queue_${randomUUID().replaceAll('-', '')}`
  await once(admin, `create database ${name}`)
  const url = new URL(admin)
  url.pathname = `/${name}`
  return {
    backend: { kind: 'postgres', url: url.href },
    [Symbol.asyncDispose]: () => once(admin, `drop database ${name} with (force)`),
  }
}

/** Both backends, for `describe.each`. */
export const BACKENDS: readonly { kind: QueueBackend['kind']; open(): Promise<TestBackend> }[] = [
  { kind: 'redis', open: redisBackend },
  { kind: 'postgres', open: postgresBackend },
]

const once = async (url: string, statement: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
