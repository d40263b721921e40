import { randomUUID } from 'node:crypto'
import type { QueueKeys, Worker } from 'bullmq'
import type { Received, Receiver } from '../backend.ts'
import type { ScriptedRedis } from './scripts.ts'

export interface RedisReceiverOptions {
  readonly client: ScriptedRedis
  readonly queue: string
  readonly keys: QueueKeys
  /** Key of the places that were taken last. */
  readonly placesKey: string
  readonly lockMs: number
  /** Returns messages whose lock has expired. */
  readonly worker: Pick<Worker, 'close'> & { getBackend(): { moveStalledJobsToWait(): Promise<string[]> } }
}

export class RedisReceiver implements Receiver {
  readonly #options: RedisReceiverOptions
  readonly #token = randomUUID()

  constructor(options: RedisReceiverOptions) {
    this.#options = options
  }

  /** `client`: another connection, whose commands precede this one. */
  async take(max: number, client = this.#options.client): Promise<Received[]> {
    const { lockMs, placesKey } = this.#options
    const keys = [
      ...this.#keys('wait', 'prioritized', 'active', 'meta', 'marker'),
      placesKey,
      ...this.#keys(''),
    ]
    const taken = await client.scanfarmTake(...keys, max, this.#token, lockMs)
    return Array.from({ length: taken.length / 2 }, (_, n) => ({
      id: taken[2 * n] ?? '',
      data: taken[2 * n + 1] ?? '',
    }))
  }

  async settle(ids: readonly string[], how: 'remove' | 'return'): Promise<void> {
    const keys = this.#keys('wait', 'prioritized', 'active', 'stalled', 'marker', '')
    await this.#options.client.scanfarmSettle(...keys, how, this.#token, ...ids)
  }

  returnAbandoned(): Promise<string[]> {
    return this.#options.worker.getBackend().moveStalledJobsToWait()
  }

  async close(): Promise<void> {
    await this.#options.worker.close(true)
  }

  #keys(...names: readonly string[]): string[] {
    return names.map((name) => this.#options.keys.toKey(this.#options.queue, name))
  }
}
