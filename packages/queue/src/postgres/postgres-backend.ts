import { randomUUID } from 'node:crypto'
import type { Ticket } from '@scanfarm/contracts'
import { listen } from '@scanfarm/platform/postgres'
import {
  assertSchemaCompatibility,
  createPostgresBackend,
  LATEST_SCHEMA_VERSION,
  Queue,
  runMigrations,
  SchemaMigrationRequiredError,
  Worker,
  type BackendFactory,
  type PostgresConnectionOptions,
  type PostgresQueueBackend,
} from 'bullmq'
import type pg from 'pg'
import type { Backend, Receiver, Redelivery, Sender, Notifier } from '../backend.ts'
import { runIdOf } from '../message.ts'
import { formatRunIds, formatWorkerIds, parseSignal, PREFIX, type Signal } from '../names.ts'
import type { Head } from '../plan-take.ts'
import { QueueSetupError, type QueueLog } from '../run-queue.ts'
import { grantWorkers } from './grant-workers.ts'
import { PostgresNotifier } from './notifier.ts'
import { openQueuePool } from './pool.ts'
import { PostgresReceiver } from './receiver.ts'

const QUERY_TIMEOUT_MS = 5_000
/** One connection to send or receive, and one for concurrent calls. */
const CONNECTIONS = 2
/** Postgres rejects payloads of 8,000 bytes and more. */
const CANCELS_PER_SIGNAL = 400
const NEVER = 2 ** 31 - 1

/** Suppresses the listening connection of a BullMQ worker: `PostgresNotifier` waits for all queues. */
const withoutListening: BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> = (name, options) =>
  createPostgresBackend(name, options)

/** BullMQ's tables, in their own schema of the farm's database. For up to 20 workers. */
export class PostgresBackend implements Backend {
  readonly keepsOrder = false
  /** For notifications. */
  readonly #directUrl: string
  readonly #log: QueueLog
  readonly #farmId: string
  readonly #mayMigrate: boolean
  readonly #pool: pg.Pool
  #prepared = false

  constructor(options: {
    url: string
    directUrl: string
    farmId: string
    role: 'master' | 'worker'
    log: QueueLog
  }) {
    this.#directUrl = options.directUrl
    this.#log = options.log
    this.#farmId = options.farmId
    this.#mayMigrate = options.role === 'master'
    this.#pool = openQueuePool({
      connectionString: options.url,
      max: CONNECTIONS,
      query_timeout: QUERY_TIMEOUT_MS,
      connectionTimeoutMillis: QUERY_TIMEOUT_MS,
    })
    // Each queue adds a listener for errors. A connection may be lost while it is idle or checked out. Its user gets the
    // error from the statement, but without a listener the event would end the process.
    this.#pool.setMaxListeners(0)
    this.#pool.on('error', (error) =>
      this.#log.warn('a connection of the queue to Postgres was lost', { error }),
    )
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  readonly takesGroups = false

  /** The pool connects on demand and reports errors itself. */
  assertConnected(): void {}

  async sender(name: string, requirementClass: string): Promise<Sender> {
    await this.#prepare()
    const queue = new Queue<
      Ticket,
      void,
      'run',
      Ticket,
      void,
      'run',
      PostgresQueueBackend,
      PostgresConnectionOptions
    >(name, { connection: this.#pool, skipMetasUpdate: true }, withoutListening)
    queue.on('error', () => undefined)
    await whenReady(queue)
    return {
      // On every call: the list of classes may have been emptied. In parallel with the messages, to save a round trip.
      addBulk: (messages) =>
        Promise.all([this.#keep(`class:${name}`, requirementClass), queue.addBulk(messages)]),
      // It takes messages by priority and age, whatever their shares.
      forget: async () => undefined,
      getCountsPerPriority: (ranks) => queue.getCountsPerPriority(ranks),
      remove: (id) => queue.remove(id),
      close: () => queue.close(),
    }
  }

  async receiver(queue: string, redelivery: Redelivery): Promise<Receiver> {
    await this.#prepare()
    const worker = new Worker<Ticket, string, 'run', PostgresQueueBackend, number, PostgresConnectionOptions>(
      queue,
      null,
      {
        connection: this.#pool,
        lockDuration: redelivery.lockMs,
        stalledInterval: redelivery.checkMs,
        // Postgres decides about runs, so a message is redelivered without limit.
        maxStalledCount: NEVER,
      },
      withoutListening,
    )
    worker.on('error', () => undefined)
    return new PostgresReceiver(await whenReady(worker))
  }

  notifier(): Notifier {
    return new PostgresNotifier({
      url: this.#directUrl,
      log: this.#log,
      isOurs: (queue) => queue.startsWith(`${this.#farmId}.`),
    })
  }

  async has(queue: string, ids: readonly string[]): Promise<boolean[]> {
    await this.#prepare()
    const { rows } = await this.#pool.query<{ id: string }>(
      'select id from job where queue = $1 and id = any($2::text[])',
      [queue, ids],
    )
    const found = new Set(rows.map(({ id }) => id))
    return ids.map((id) => found.has(id))
  }

  async heads(queues: readonly string[], limit: number): Promise<Head[][]> {
    // In the order of BullMQ's own index of waiting messages, so that depth costs nothing.
    const { rows } = await this.#pool.query<{ ids: string[]; ranks: number[] }>(
      `select array(select id from job where job.queue = asked.queue and job.state = 'waiting'
                     order by job.priority, job.seq limit $2) as ids,
              array(select job.priority from job where job.queue = asked.queue and job.state = 'waiting'
                     order by job.priority, job.seq limit $2) as ranks
         from unnest($1::text[]) with ordinality as asked (queue, place) order by asked.place`,
      [queues, limit],
    )
    return rows.map(({ ids, ranks }) =>
      ids.map((id, index) => ({ rank: ranks[index] ?? 0, place: 0, runId: runIdOf(id) })),
    )
  }

  async classes(): Promise<string[]> {
    await this.#prepare()
    const { rows } = await this.#pool.query<{ value: string }>(
      "select value from meta where queue = $1 and field like 'class:%'",
      [this.#farmId],
    )
    return rows.map(({ value }) => value)
  }

  async generation(): Promise<string> {
    await this.#prepare()
    await this.#keep('sentinel', randomUUID())
    const { rows } = await this.#pool.query<{ value: string }>(
      "select value from meta where queue = $1 and field = 'sentinel'",
      [this.#farmId],
    )
    return rows[0]?.value ?? ''
  }

  async publishCancel(runs: readonly Pick<Ticket, 'runId'>[]): Promise<void> {
    for (let at = 0; at < runs.length; at += CANCELS_PER_SIGNAL)
      await this.#pool.query('select pg_notify($1, $2)', [
        this.#cancelChannel,
        formatRunIds(runs.slice(at, at + CANCELS_PER_SIGNAL)),
      ])
  }

  async publishWorkers(workerIds: readonly string[]): Promise<void> {
    await this.#pool.query('select pg_notify($1, $2)', [this.#cancelChannel, formatWorkerIds(workerIds)])
  }

  async onSignal(listener: (signal: Signal) => void, onMissed?: () => void): Promise<AsyncDisposable> {
    return await listen({
      url: this.#directUrl,
      log: (message, facts) => this.#log.warn(message, facts),
      channels: { [this.#cancelChannel]: (text) => listener(parseSignal(text)) },
      onBack: () => onMissed?.(),
    })
  }

  async check(): Promise<void> {
    const { rows } = await this.#pool.query<{ readonly: boolean }>('select pg_is_in_recovery() as readonly')
    if (rows[0]?.readonly === true)
      throw new QueueSetupError(
        'the queue database is a read-only standby: set the database URL to the primary.',
      )
    await this.generation()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end()
  }

  get #cancelChannel(): string {
    return `${PREFIX}_cancel_${this.#farmId}`
  }

  /** Writes a field of the farm unless it exists. */
  async #keep(field: string, value: string): Promise<void> {
    await this.#pool.query(
      'insert into meta (queue, field, value) values ($1, $2, $3) on conflict (queue, field) do nothing',
      [this.#farmId, field, value],
    )
  }

  async #prepare(): Promise<void> {
    if (this.#prepared) return
    const client = await this.#pool.connect()
    let failed = true
    try {
      if (this.#mayMigrate) {
        // BullMQ migrates under an advisory lock, which every login of the database could hold.
        if ((await versionOf(client)) < LATEST_SCHEMA_VERSION) await runMigrations(client)
        await grantWorkers(client)
      } else {
        await assertSchemaCompatibility(client)
      }
      this.#prepared = true
      failed = false
    } catch (error) {
      if (error instanceof SchemaMigrationRequiredError)
        throw new Error('the queue does not exist yet: start a master first, which creates its tables.', {
          cause: error,
        })
      throw error
    } finally {
      // A lost connection may not have noticed yet, so it must not return to the pool.
      client.release(failed)
    }
  }
}

/** The version of BullMQ's tables. 0: there are none. */
const versionOf = (client: pg.PoolClient): Promise<number> =>
  assertSchemaCompatibility(client).catch((error: unknown) => {
    if (error instanceof SchemaMigrationRequiredError) return 0
    throw error
  })

/** BullMQ checks the connection once and keeps a failure forever, so a queue that failed is closed. */
const whenReady = async <Q extends { waitUntilReady(): Promise<unknown>; close(): Promise<void> }>(
  queue: Q,
): Promise<Q> => {
  try {
    await queue.waitUntilReady()
    return queue
  } catch (error) {
    await queue.close().catch(() => undefined)
    throw error
  }
}
