import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { expect, test } from '@jest/globals'
import { DEFAULT_SCHEMA, MIGRATION_ADVISORY_LOCK_KEY } from 'bullmq'
import pg from 'pg'
import { listen, until } from '@scanfarm/testing'
import { forAllTests } from '@scanfarm/testing/for-all-tests'
import { openRunQueue } from '../src/index.ts'
import { PostgresNotifier } from '../src/postgres/notifier.ts'
import { message, newFarm, patience, postgresBackend, quiet, serveAll } from './backends.ts'

const at = forAllTests(() => postgresBackend())

test('A worker cannot open the queue until a master has created its tables', async () => {
  const farmId = newFarm()
  await using worker = await openRunQueue(at.backend, { farmId, role: 'worker', log: quiet })
  await expect(worker.check()).rejects.toThrow('start a master first')
  await using consumer = worker.consumer(serveAll)
  const taking = consumer.take(1, patience())
  await using master = await openRunQueue(at.backend, { farmId, role: 'master', log: quiet })
  await master.add([message(1)])
  expect((await taking).map(({ runId }) => runId)).toEqual([1])
})

test('Consumers and listeners continue after a loss of their connections', async () => {
  const farmId = newFarm()
  await using queue = await openRunQueue(at.backend, { farmId, role: 'master', log: quiet })
  await using consumer = queue.consumer(serveAll)
  const cancelled: number[] = []
  await using _listening = await queue.onSignal(({ runIds }) => cancelled.push(...runIds))
  await queue.check()
  const taking = consumer.take(1, patience())
  await cutConnections()
  await until(() =>
    queue.add([message(1)]).then(
      () => true,
      () => false,
    ),
  )
  expect((await taking).map(({ runId }) => runId)).toEqual([1])
  await until(async () => {
    await queue.publishCancel([{ runId: 5 }])
    return cancelled.includes(5)
  })
})

test('Many notifications make an idle consumer query at most once every 50 ms', async () => {
  const farmId = newFarm()
  await using queue = await openRunQueue(at.backend, { farmId, role: 'master', log: quiet })
  await queue.add([message(1)])
  await using notifier = new PostgresNotifier({ url: at.backend.url, log: quiet, isOurs: () => true })
  await notifier.wait([], 1, 1, patience())
  await using stormy = await connected()
  const begin = performance.now()
  let over = false
  const storm = (async () => {
    for (let count = 0; count < 500; count += 1) await stormy.client.query('notify bullmq_jobs')
    over = true
  })()
  let woken = 0
  for (; !over; woken += 1) {
    notifier.arm()
    await notifier.wait([], 100, 1, patience())
  }
  await storm
  expect(woken).toBeLessThanOrEqual((performance.now() - begin) / 50 + 2)
  expect(woken).toBeGreaterThan(0)
})

test('A connection that is lost while the tables are created rejects the call and does not end the process', async () => {
  await using empty = await postgresBackend()
  await using holder = await connected(empty.backend.url)
  // BullMQ takes this lock before it creates the tables.
  await holder.client.query('select pg_advisory_lock($1, hashtext($2))', [
    MIGRATION_ADVISORY_LOCK_KEY,
    DEFAULT_SCHEMA,
  ])
  await using way = await openWay(new URL(empty.backend.url))
  await using queue = await openRunQueue(
    { kind: 'postgres', url: way.url },
    { farmId: newFarm(), role: 'master', log: quiet },
  )
  const adding = queue.add([message(1)]).then(
    () => 'added',
    (error: Error) => error.message,
  )
  const waiting = `select from pg_stat_activity
                    where datname = current_database() and wait_event_type = 'Lock' and wait_event = 'advisory'`
  await until(async () => (await holder.client.query(waiting)).rowCount === 1)
  way.cut()
  expect(await adding).toMatch(/Connection terminated|not queryable/)
  way.mend()
  await holder.client.query('select pg_advisory_unlock_all()')
  await queue.add([message(1)])
  expect(await queue.has([message(1)])).toEqual([true])
})

test('A queue that is first used during an outage of Postgres works after the outage', async () => {
  await using way = await openWay(new URL(at.backend.url))
  await using queue = await openRunQueue(
    { kind: 'postgres', url: way.url },
    { farmId: newFarm(), role: 'master', log: quiet },
  )
  await queue.check()
  way.cut()
  await expect(queue.add([message(1)])).rejects.toThrow()
  await expect(queue.waiting('')).rejects.toThrow()
  way.mend()
  await until(() =>
    queue.add([message(1)]).then(
      () => true,
      () => false,
    ),
  )
  await using consumer = queue.consumer(serveAll)
  expect((await consumer.take(1, patience())).map(({ runId }) => runId)).toEqual([1])
})

test('A consumer that is closed while it connects leaves no connection open', async () => {
  await using holder = await connected()
  await using queue = await openRunQueue(at.backend, { farmId: newFarm(), role: 'master', log: quiet })
  const consumer = queue.consumer(serveAll)
  const taking = consumer.take(1, patience())
  await consumer[Symbol.asyncDispose]()
  expect(await taking).toEqual([])
  const listening = `select from pg_stat_activity where datname = current_database() and query ilike 'listen %'`
  await until(async () => (await holder.client.query(listening)).rowCount === 0)
})

test('A login with only the worker role can consume messages and receive cancels', async () => {
  const login = `scanfarm_test_queue_${randomUUID().slice(0, 8)}`
  const client = new pg.Client({ connectionString: at.backend.url })
  await client.connect()
  try {
    await makeWorkerRole(client)
    await client.query(`create role ${login} login password 'secret' in role scanfarm_worker`)
    const url = new URL(at.backend.url)
    url.username = login
    url.password = 'secret'
    await using _worked = {
      async [Symbol.asyncDispose]() {
        await client.query(`drop role ${login}`)
      },
    }
    const farmId = newFarm()
    await using master = await openRunQueue(at.backend, { farmId, role: 'master', log: quiet })
    await master.add([message(1), message(2)])
    await using worker = await openRunQueue(
      { kind: 'postgres', url: url.href },
      { farmId, role: 'worker', log: quiet },
    )
    await worker.check()
    const cancelled: number[] = []
    await using _listening = await worker.onSignal(({ runIds }) => cancelled.push(...runIds))
    await using consumer = worker.consumer(serveAll)
    for (const runId of [1, 2]) {
      const [delivery] = await consumer.take(1, patience())
      expect(delivery?.runId).toBe(runId)
      await delivery?.ack()
    }
    const waiting = consumer.take(1, patience())
    await master.add([message(3)])
    for (const delivery of await waiting) await delivery.release()
    await until(async () => {
      await master.publishCancel([{ runId: 5 }])
      return cancelled.includes(5)
    })
  } finally {
    await client.end()
  }
})

/** Creates the role like the migration of the store does; another test may create it at the same time. */
const makeWorkerRole = async (client: pg.Client): Promise<void> => {
  await client.query(`do $$ begin create role scanfarm_worker nologin; exception
    when duplicate_object or unique_violation then null; end $$`)
}

const connected = async (url = at.backend.url): Promise<AsyncDisposable & { readonly client: pg.Client }> => {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  return { client, [Symbol.asyncDispose]: () => client.end() }
}

/** A proxy to Postgres that can drop all packets, like a broken network, until it is repaired. */
const openWay = async (
  to: URL,
): Promise<AsyncDisposable & { readonly url: string; cut(): void; mend(): void }> => {
  const sockets = new Set<Socket>()
  let open = true
  const server = createServer((from) => {
    if (!open) return void from.destroy()
    const target = connect(Number(to.port || 5432), to.hostname)
    for (const socket of [from, target]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        from.destroy()
        target.destroy()
        sockets.delete(socket)
      })
    }
    from.pipe(target).pipe(from)
  })
  const cut = () => {
    open = false
    for (const socket of sockets) socket.destroy()
  }
  const url = new URL(to)
  url.host = `127.0.0.1:${await listen(server)}`
  return {
    url: url.href,
    cut,
    mend: () => void (open = true),
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}

const cutConnections = async (): Promise<void> => {
  await using own = await connected()
  await own.client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  )
}
