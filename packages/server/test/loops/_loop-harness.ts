import { randomUUID } from 'node:crypto'
import type { RunStore } from '@scanfarm/contracts'
import { silentLogger } from '@scanfarm/platform'
import { openRunQueue, type MessageRef, type RunQueue } from '@scanfarm/queue'
import { startRedis, type RedisServer } from '@scanfarm/queue/testing'
import type { JobDraft, OutboxRow, Store } from '@scanfarm/store'
import { asSuperuser, draft, testDatabase } from '@scanfarm/store/testing'

export interface LoopHarness extends AsyncDisposable {
  /** Of the database. */
  readonly url: string
  readonly store: Store
  readonly runStore: RunStore
  readonly queue: RunQueue
  /** Its own, so that it may be killed and flushed. */
  readonly redis: RedisServer
  sql(statement: string): Promise<Record<string, unknown>[]>
  /** Everything but the schema goes, on both sides. */
  reset(): Promise<void>
  submit(
    count: number,
    changes?: Partial<JobDraft>,
    send?: number,
  ): Promise<{ jobId: string; messages: MessageRef[]; sent: readonly OutboxRow[] }>
  /** A live worker that does nothing by itself. */
  join(options?: { capabilities?: string[]; leaseMs?: number }): Promise<string>
}

/** A real database and a real Redis without anything that runs. */
export const openLoopHarness = async (): Promise<LoopHarness> => {
  await using scope = new AsyncDisposableStack()
  const { store, runStore, url } = scope.use(await testDatabase())
  const redis = scope.use(await startRedis())
  const queue = scope.use(
    await openRunQueue(
      { kind: 'redis', url: redis.url },
      { farmId: await store.farmId(), role: 'master', log: silentLogger },
    ),
  )
  const sql = (statement: string) =>
    asSuperuser(async (client) => (await client.query<Record<string, unknown>>(statement)).rows, url)
  const opened = scope.move()
  return {
    url,
    store,
    runStore,
    queue,
    redis,
    sql,
    async reset() {
      await sql('truncate jobs, runs, outbox, slots, workers cascade')
      await redis.flush()
    },
    submit: (count, changes, send) => submit(store, count, changes, send),
    join: (options) => join(runStore, options),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  }
}

const submit: (
  store: Store,
  count: number,
  changes?: Partial<JobDraft>,
  send?: number,
) => ReturnType<LoopHarness['submit']> = async (store, count, changes = {}, send = 0) => {
  const job = draft({ params: {}, ...changes })
  const answer = await store.jobs.submit(job, targets(count), { send })
  if (!('job' in answer)) throw new Error('a kept answer came instead of a job')
  const { sent } = answer
  const { jobId } = answer.job
  const messages: MessageRef[] = []
  for (let offset = 0; offset < count; offset += PAGE) {
    const page = await store.runs.list({ jobId }, { offset, limit: PAGE })
    for (const { id } of page.data)
      messages.push({ runId: id, epoch: 0, requirementClass: job.requirementClass })
  }
  return { jobId, sent, messages: messages.sort((a, b) => a.runId - b.runId) }
}

const PAGE = 10_000

const join = async (
  runStore: RunStore,
  options: { capabilities?: string[]; leaseMs?: number } = {},
): Promise<string> => {
  const workerId = randomUUID()
  const { capabilities = [], leaseMs = 60_000 } = options
  const about = { name: 'test', hostname: 'test', pid: 1, version: '0', kind: 'worker', slots: 4 } as const
  await runStore.join({ ...about, workerId, capabilities, leaseMs })
  return workerId
}

const targets = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ target: `host-${n}.test`, workspace: `host-${n}.test` }))
