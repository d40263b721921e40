import { randomUUID } from 'node:crypto'
import type { Ticket } from '@scanfarm/contracts'
import {
  createRedisBackend,
  Queue,
  QueueKeys,
  Worker,
  type BackendFactory,
  type RedisQueueBackend,
} from 'bullmq'
import type { ChainableCommander } from 'ioredis'
import type { Backend, Receiver, Redelivery, Sender, Notifier } from '../backend.ts'
import { runIdOf } from '../message.ts'
import { formatRunIds, formatWorkerIds, parseSignal, PREFIX, type Signal } from '../names.ts'
import type { Head } from '../plan-take.ts'
import type { QueueLog } from '../run-queue.ts'
import type { RedisAddress } from './address.ts'
import { connect, firstAttempt } from './connect.ts'
import { checkFitness, parseInfo } from './fitness.ts'
import { RedisNotifier } from './notifier.ts'
import { nameRights } from './rights.ts'
import { RedisReceiver } from './receiver.ts'
import { withScripts, type ScriptedRedis } from './scripts.ts'
import { RedisSender } from './sender.ts'

/** BullMQ's score of a prioritised message is rank * 2^32 + a number below 2^32: here its place. */
const RANK_UNIT = 2 ** 32
const NEVER = 2 ** 31 - 1
/** Types of commands that the scripts of the queue use. */
const TRIED = `
  for _, key in ipairs(KEYS) do redis.call('hset', key, 'a', '1'); redis.call('hgetall', key); redis.call('del', key) end
  redis.call('zadd', KEYS[1], 1, 'a'); redis.call('zrange', KEYS[1], 0, -1); redis.call('del', KEYS[1])
  redis.call('lpush', KEYS[2], 'a'); redis.call('lrem', KEYS[2], 0, 'a')
  redis.call('sadd', KEYS[2], 'a'); redis.call('xadd', KEYS[1], '*', 'a', '1'); return redis.call('del', KEYS[1], KEYS[2])`
/** Three for each queue; BullMQ raises the number by what it adds, so it must not be 0 (no limit). */
const MAX_LISTENERS = 1_000

/** Suppresses the blocking connection of a BullMQ worker: `RedisNotifier` waits for all queues. */
const withoutBlocking: BackendFactory<RedisQueueBackend> = (name, options) =>
  createRedisBackend(name, options)

export class RedisBackend implements Backend {
  readonly keepsOrder = true
  readonly #server: RedisAddress
  readonly #log: QueueLog
  readonly #client: ScriptedRedis
  readonly #keys = new QueueKeys(PREFIX)
  readonly #farm: string
  #lastError: Error | undefined
  /** The login may send every command of the farm. */
  #mayAll = false

  private constructor(options: { server: RedisAddress; farmId: string; log: QueueLog }) {
    this.#server = options.server
    this.#log = options.log
    this.#farm = `${PREFIX}:${options.farmId}`
    this.#client = withScripts(connect(options.server, options.log, { blocking: false }))
    this.#client.on('error', (error: Error) => (this.#lastError = error))
    // Each queue adds listeners for errors and for the close.
    this.#client.setMaxListeners(MAX_LISTENERS)
  }

  /** Resolves even if Redis is unreachable; later calls then reject. */
  static async open(options: { server: RedisAddress; farmId: string; log: QueueLog }): Promise<RedisBackend> {
    const backend = new RedisBackend(options)
    await firstAttempt(backend.#client)
    return backend
  }

  readonly takesGroups = true

  assertConnected(): void {
    if (this.#client.status !== 'ready')
      throw new Error(`Redis at ${this.#server.place} cannot be reached (${this.#client.status})`)
  }

  async sender(name: string, requirementClass: string): Promise<Sender> {
    const queue = new Queue<Ticket, void, 'run'>(name, { ...this.#bullOptions(), skipMetasUpdate: true })
    queue.on('error', () => undefined)
    return new RedisSender({
      client: this.#client,
      queue,
      keyOf: (kind) => this.#keys.toKey(name, kind),
      requirementClass,
      classesKey: this.#classesKey,
      placesKey: this.#placesKey,
    })
  }

  async receiver(queue: string, redelivery: Redelivery): Promise<Receiver> {
    const worker = new Worker<Ticket, string, 'run'>(
      queue,
      null,
      {
        ...this.#bullOptions(),
        lockDuration: redelivery.lockMs,
        stalledInterval: redelivery.checkMs,
        // Postgres decides about runs, so a message is redelivered without limit.
        maxStalledCount: NEVER,
      },
      withoutBlocking,
    )
    worker.on('error', () => undefined)
    return new RedisReceiver({
      client: this.#client,
      queue,
      keys: this.#keys,
      placesKey: this.#placesKey,
      lockMs: redelivery.lockMs,
      worker,
    })
  }

  notifier(): Notifier {
    return new RedisNotifier({
      server: this.#server,
      log: this.#log,
      markerOf: (queue) => this.#keys.toKey(queue, 'marker'),
    })
  }

  async has(queue: string, ids: readonly string[]): Promise<boolean[]> {
    const exists = await this.#pipeline((pipeline) => {
      for (const id of ids) pipeline.exists(this.#keys.toKey(queue, id))
    })
    return exists.map((found) => found === 1)
  }

  async heads(queues: readonly string[], limit: number): Promise<Head[][]> {
    const replies = await this.#pipeline((pipeline) => {
      for (const queue of queues) {
        // Messages of dead consumers return to this list, whatever their priority. Consumers take from its end.
        pipeline.lrange(this.#keys.toKey(queue, 'wait'), -limit, -1)
        pipeline.zrange(this.#keys.toKey(queue, 'prioritized'), 0, String(limit - 1), 'WITHSCORES')
      }
    })
    return queues.map((_, index) => [
      ...textsOf(replies[index * 2])
        .toReversed()
        .map((id) => ({ rank: 0, place: 0, runId: runIdOf(id) })),
      ...headsOf(textsOf(replies[index * 2 + 1])),
    ])
  }

  async classes(): Promise<string[]> {
    this.assertConnected()
    return this.#client.smembers(this.#classesKey)
  }

  async generation(): Promise<string> {
    const sentinel = `${this.#farm}:sentinel`
    const [, sentinelValue, info] = await this.#pipeline((pipeline) => {
      pipeline.set(sentinel, randomUUID(), 'NX')
      pipeline.get(sentinel)
      pipeline.info('server')
    })
    return `${String(sentinelValue)}/${parseInfo(String(info)).get('run_id') ?? ''}`
  }

  async publishCancel(runs: readonly Pick<Ticket, 'runId'>[]): Promise<void> {
    this.assertConnected()
    await this.#client.publish(`${this.#farm}:cancel`, formatRunIds(runs))
  }

  async publishWorkers(workerIds: readonly string[]): Promise<void> {
    this.assertConnected()
    await this.#client.publish(`${this.#farm}:cancel`, formatWorkerIds(workerIds))
  }

  async onSignal(listener: (signal: Signal) => void): Promise<AsyncDisposable> {
    const subscriber = connect(this.#server, this.#log, { blocking: true })
    subscriber.on('message', (_channel, text) => listener(parseSignal(text)))
    await firstAttempt(subscriber)
    // The client keeps the subscription while Redis is unreachable, and subscribes when it connects.
    await subscriber.subscribe(`${this.#farm}:cancel`)
    return {
      async [Symbol.asyncDispose]() {
        subscriber.disconnect()
      },
    }
  }

  async check(): Promise<void> {
    try {
      if (this.#client.status !== 'ready' && this.#lastError?.name === 'ReplyError') throw this.#lastError
      this.assertConnected()
      checkFitness(parseInfo(await this.#client.info()), this.#server)
      // A write: it also fails on a full, read-only or half-dead Redis.
      await this.generation()
      if (!this.#mayAll) await this.#tryCommands()
      this.#mayAll = true
    } catch (error) {
      throw nameRights(error, this.#server.place)
    }
  }

  /** Each kind of command that the farm sends: a login may lack the right for one of them. */
  async #tryCommands(): Promise<void> {
    const keys = [`${this.#farm}:check:a`, `${this.#farm}:check:b`]
    await this.#client.eval(TRIED, keys.length, ...keys)
    await this.#client.publish(`${this.#farm}:cancel`, '')
    const other = connect(this.#server, this.#log, { blocking: true })
    try {
      await firstAttempt(other)
      await other.bzpopmin(...keys, 0.01)
      await other.subscribe(`${this.#farm}:cancel`)
    } finally {
      other.disconnect()
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.disconnect()
  }

  get #classesKey(): string {
    return `${this.#farm}:classes`
  }

  get #placesKey(): string {
    return `${this.#farm}:places`
  }

  #bullOptions() {
    // `check` verifies the version. BullMQ makes no calls when it opens a queue: if Redis were unreachable at that
    // moment, the queue would stay broken.
    return { connection: this.#client, prefix: PREFIX, skipVersionCheck: true, skipWaitingForReady: true }
  }

  async #pipeline(fill: (pipeline: ChainableCommander) => void): Promise<unknown[]> {
    this.assertConnected()
    const pipeline = this.#client.pipeline()
    fill(pipeline)
    const replies = (await pipeline.exec()) ?? []
    return replies.map(([error, value]) => {
      if (error) throw error
      return value
    })
  }
}

const textsOf = (reply: unknown): string[] => (Array.isArray(reply) ? reply.map(String) : [])

/** Of a reply to `ZRANGE … WITHSCORES`: member, score, member, score. */
const headsOf = (reply: readonly string[]): Head[] =>
  reply.flatMap((id, index) => (index % 2 === 0 ? [headOf(id, Number(reply[index + 1]))] : []))

const headOf = (id: string, score: number): Head => ({
  rank: Math.floor(score / RANK_UNIT),
  place: score % RANK_UNIT,
  runId: runIdOf(id),
})
