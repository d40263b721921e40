import { addAbortListener } from 'node:events'
import type { Ticket, WaitingJob } from '@scanfarm/contracts'
import type { BullMessage } from './message.ts'
import type { Signal } from './names.ts'
import type { Head } from './plan-take.ts'

/** The messages of one queue. */
export interface Sender {
  /** Also lists the class of the queue among those in use. A message that exists is left alone. */
  addBulk(messages: BullMessage[]): Promise<unknown>
  /** The messages of the job with this rank claim nothing any more. */
  forget(job: WaitingJob, rank: number): Promise<void>
  getCountsPerPriority(ranks: number[]): Promise<Record<string, number>>
  remove(id: string): Promise<number>
  close(): Promise<void>
}

/** A message that a consumer holds. */
export interface Received {
  readonly id: string
  /** As the sender wrote it, or its JSON. */
  readonly data: unknown
}

/** Receives the messages of one queue for one consumer. */
export interface Receiver {
  /** At most `max` messages, the most urgent ones first. */
  take(max: number): Promise<Received[]>
  /** Removes messages, or puts them back in front of their priority. Messages that it does not hold are left alone. */
  settle(ids: readonly string[], how: 'remove' | 'return'): Promise<void>
  /** Returns messages of dead consumers to the queue. */
  returnAbandoned(): Promise<readonly string[]>
  close(): Promise<void>
}

/** How soon a message of a dead consumer is redelivered. */
export interface Redelivery {
  readonly lockMs: number
  readonly checkMs: number
}

/** A queue that a consumer receives from. */
export interface OpenQueue {
  readonly name: string
  readonly receiver: Receiver
}

/** Notifies an idle consumer that one of its queues may have a message. */
export interface Notifier extends AsyncDisposable {
  /** Call before reading the queues: a message that arrives after this call ends the next wait. */
  arm(): void
  /**
   * Waits for at most `ms`. A backend that `takesGroups` then takes at most `max` messages of a single queue in the same
   * round trip, and returns them.
   */
  wait(
    queues: readonly OpenQueue[],
    ms: number,
    max: number,
    signal: AbortSignal,
  ): Promise<readonly Received[]>
}

/** The operations that differ between Redis and Postgres. Queue names are full names. */
export interface Backend extends AsyncDisposable {
  /** Calls that are in progress at the same time take effect in the order in which they were made. */
  readonly keepsOrder: boolean
  /** Throws if the connection is known to be lost, so that no call can succeed now. */
  assertConnected(): void
  /** Several messages are taken in one call, also at the end of a wait: counting them first would cost as much. */
  readonly takesGroups: boolean
  sender(queue: string, requirementClass: string): Promise<Sender>
  receiver(queue: string, redelivery: Redelivery): Promise<Receiver>
  notifier(): Notifier
  has(queue: string, ids: readonly string[]): Promise<boolean[]>
  /** The first `limit` messages of each queue, in the order in which they would be taken. */
  heads(queues: readonly string[], limit: number): Promise<Head[][]>
  /** Classes that have had a message since the backend was last emptied. */
  classes(): Promise<string[]>
  generation(): Promise<string>
  publishCancel(runs: readonly Pick<Ticket, 'runId'>[]): Promise<void>
  publishWorkers(workerIds: readonly string[]): Promise<void>
  onSignal(listener: (signal: Signal) => void, onMissed?: () => void): Promise<AsyncDisposable>
  check(): Promise<void>
}

/** Settles like `work`, or resolves to undefined as soon as the signal aborts. */
export const untilAborted = async <T>(work: Promise<T>, signal: AbortSignal): Promise<T | undefined> => {
  if (signal.aborted) return undefined
  const { promise, resolve } = Promise.withResolvers<undefined>()
  using _listener = addAbortListener(signal, () => resolve(undefined))
  return await Promise.race([work, promise])
}
