/**
 * The least that a farm of the same libraries and the same launcher can do: a master that stores a run and queues it, and
 * a worker that claims it and executes its command. Prints a line when it is ready: the master its port.
 *
 *   bare-farm.ts master|worker POSTGRES_URL REDIS_URL
 */
import { mkdtemp } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { AddressInfo } from 'node:net'
import { createHostRunners } from '@scanfarm/runners'
import { Queue, Worker } from 'bullmq'
import { Redis } from 'ioredis'
import pg from 'pg'

const QUEUE = 'bench-bare-farm'
const TABLE = `create table if not exists bench_bare_runs
  (id bigint generated always as identity primary key, command text not null, status text not null)`
const STORE = "insert into bench_bare_runs (command, status) values ($1, 'queued') returning id"
const CLAIM = `update bench_bare_runs set status = 'running' where id = $1 and status = 'queued' returning command`

interface Message {
  readonly runId: string
}

const [role, postgresUrl = '', redisUrl = ''] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: postgresUrl, max: 4 })
const connection = new Redis(redisUrl, { maxRetriesPerRequest: null })

async function beMaster(): Promise<number> {
  await pool.query(TABLE)
  const queue = new Queue<Message>(QUEUE, { connection })
  const submit = async (command: string): Promise<void> => {
    const { rows } = await pool.query<{ id: string }>({ name: 'store', text: STORE, values: [command] })
    const runId = rows[0]?.id ?? ''
    await queue.add('run', { runId }, { jobId: `r${runId}`, priority: 3, removeOnComplete: true })
  }
  const server = createServer((request, response) => {
    void text(request)
      .then(submit)
      .then(() => response.writeHead(202).end())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as AddressInfo).port
}

async function beWorker(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'bare-farm-'))
  const { signal } = new AbortController()
  const context = { runUuid: 'bench', attempt: 1, folder, marker: 'bench', signal, log: () => undefined }
  const runner = await createHostRunners().open({ type: 'host' }, context)
  const execute = async ({ data }: { readonly data: Message }): Promise<void> => {
    const { rows } = await pool.query<{ command: string }>({
      name: 'claim',
      text: CLAIM,
      values: [data.runId],
    })
    const argv = ['/bin/sh', '-c', rows[0]?.command ?? '']
    await runner.run({ argv, env: { PATH: '/usr/bin:/bin' } }, { signal })
  }
  const worker = new Worker<Message>(QUEUE, execute, { connection, concurrency: 4 })
  await worker.waitUntilReady()
  return 'ready'
}

console.log(await (role === 'master' ? beMaster() : beWorker()))
