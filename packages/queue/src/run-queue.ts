import type { Priority, Ticket, WaitingJob } from '@scanfarm/contracts'
import type { Signal } from './names.ts'

/** Where messages are stored. The URL may contain credentials and is never logged. */
export type QueueBackend =
  | { readonly kind: 'redis'; readonly url: string }
  | {
      readonly kind: 'postgres'
      readonly url: string
      /** Without a pooler, for notifications; default `url`. */
      readonly directUrl?: string
    }

/** Messages are constant; values are passed as fields. The logger of platform has this interface. */
export interface QueueLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

export interface QueueOptions {
  /** Id of the farm. It is part of every name in the backend, so that two farms can share one. */
  readonly farmId: string
  /** A master may create what the backend needs (the schema on Postgres); a worker only uses it. */
  readonly role: 'master' | 'worker'
  readonly log: QueueLog
  /**
   * Longest time until the message of a consumer that died before the ack is redelivered. If a claim takes longer than a
   * third of it, the message is delivered again, which is harmless.
   */
  readonly redeliverMs?: number
}

/** Identifies a message: the run, how often it was queued again, and the requirement class of its workflow. */
export interface MessageRef extends Ticket {
  readonly requirementClass: string
}

/** Whose turn a message of some priority takes. */
export interface Share {
  readonly jobNo: number
  /** Who submitted the job; all owners get the same share, times `weight`, and the jobs of one owner share it. */
  readonly owner: string
  readonly weight: number
}

export interface QueueMessage extends MessageRef {
  readonly priority: Priority
  readonly share: Share
}

/**
 * The run queue notifies workers of runs that they can claim. Postgres is the source of truth: losing every message only
 * costs time. While the backend cannot be reached, all calls except `take` reject within seconds.
 */
export interface RunQueue extends AsyncDisposable {
  /** The same (run, epoch) is one message. Not atomic: after an error some messages may have been added. */
  add(messages: readonly QueueMessage[]): Promise<void>
  /** Counts of the messages of a class that no consumer has taken, by priority. */
  waiting(requirementClass: string): Promise<Record<Priority, number>>
  /** Whether each message exists, in the same order. A taken message exists until it is acknowledged. */
  has(messages: readonly MessageRef[]): Promise<boolean[]>
  /** Best effort: a message that a consumer has taken is not removed. */
  remove(messages: readonly MessageRef[]): Promise<void>
  /** The messages of a job claim nothing any more: until consumers drop them, they do not lower the share of its owner. */
  forget(job: WaitingJob): Promise<void>
  /** Changes when the backend may have lost messages: it was flushed, restarted or failed over. */
  generation(): Promise<string>
  /** The consumer of one process. `serves` is called once a second for each class in use. */
  consumer(options: { serves(requirementClass: string): boolean }): Consumer
  /**
   * Signals all listening processes. The signal is a hint: it can be lost (heartbeats also return the request), and any
   * login of the queue can send one, so a worker stops a run only if the database has the request.
   */
  publishCancel(runs: readonly { readonly runId: number }[]): Promise<void>
  /** Signals these workers that an operator wants something of them. A hint too: the database has the request. */
  publishWorkers(workerIds: readonly string[]): Promise<void>
  /** Resolves once subscribed. The subscription is restored after an outage of the backend. */
  onSignal(listener: (signal: Signal) => void, onMissed?: () => void): Promise<AsyncDisposable>
  /**
   * Resolves if messages can be written now. Rejects with `QueueSetupError` for a problem that needs an operator (an
   * eviction policy that may drop messages, an old version), and with another error if the backend is unreachable.
   */
  check(): Promise<void>
}

export interface Delivery extends Ticket {
  /** Removes the message: the run was claimed, or cannot be. Never rejects. */
  ack(): Promise<void>
  /** Returns the message to its place, for any consumer. Never rejects; after a failure it is redelivered later. */
  release(): Promise<void>
}

export interface Consumer extends AsyncDisposable {
  /**
   * Resolves to at most `max` messages, a function being called before each fetch: the highest priority of all served
   * classes first, then the oldest runs; within a class, in the order in which they were added. If there are none, waits
   * for at most `afterWait` messages (default: as many), also through outages of the backend. Resolves to `[]` if
   * `afterWait` is 0 or `signal` aborts. One call at a time.
   */
  take(max: number | (() => number), signal: AbortSignal, afterWait?: number): Promise<Delivery[]>
}

/** The backend is reachable but unsuitable; the message says how to fix it. */
export class QueueSetupError extends Error {
  override readonly name = 'QueueSetupError'
}
