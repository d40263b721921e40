import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pg from 'pg'
import { openRunQueue } from '../src/index.ts'
import { newFarm, postgresBackend, quiet, type TestBackend } from './backends.ts'
import { until } from './until.ts'

const message = (runId: number) => ({ runId, epoch: 1, priority: 'normal', requirementClass: '' }) as const
const serveAll = { serves: () => true }
const patience = () => AbortSignal.timeout(15_000)

let at: TestBackend
beforeAll(async () => {
  at = await postgresBackend()
})
afterAll(async () => {
  await at[Symbol.asyncDispose]()
})

test('a worker waits for a master to make the tables', async () => {
  const farmId = newFarm()
  await using worker = await openRunQueue(at.backend, { farmId, role: 'worker', log: quiet })
  await expect(worker.check()).rejects.toThrow('start a master first')
  await using consumer = worker.consumer(serveAll)
  const taking = consumer.take(1, patience())
  await using master = await openRunQueue(at.backend, { farmId, role: 'master', log: quiet })
  await master.add([message(1)])
  expect((await taking).map(({ runId }) => runId)).toEqual([1])
})

test('consumers and listeners outlast the loss of their connections', async () => {
  const farmId = newFarm()
  await using queue = await openRunQueue(at.backend, { farmId, role: 'master', log: quiet })
  await using consumer = queue.consumer(serveAll)
  const cancelled: number[] = []
  await using _listening = await queue.onCancel((ids) => cancelled.push(...ids))
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

test('a login with only the role of workers can do a worker’s part', async () => {
  const login = `scanfarm_test_queue_${randomUUID().slice(0, 8)}`
  const client = new pg.Client({ connectionString: at.backend.url })
  await client.connect()
  try {
    // As the migrations of the farm's database make it; another test may be making it at this moment.
    await client.query(`do $$ begin create role scanfarm_worker nologin; exception
      when duplicate_object or unique_violation then null; end $$`)
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
    await using _listening = await worker.onCancel((ids) => cancelled.push(...ids))
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

const cutConnections = async (): Promise<void> => {
  const client = new pg.Client({ connectionString: at.backend.url })
  await client.connect()
  await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  )
  await client.end()
}
