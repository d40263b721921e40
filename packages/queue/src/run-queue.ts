import type { Priority, Ticket } from '@scanfarm/contracts'

/** Where messages are kept. The URL may carry credentials; it is never logged. */
export type QueueBackend =
  { readonly kind: 'redis'; readonly url: string } | { readonly kind: 'postgres'; readonly url: string }

/** Messages are constant sentences, what varies goes into the fields; platform's logger fits. */
export interface QueueLog {
  debug(message: string, fields?: Readonly<Record<string, unknown>>): void
  info(message: string, fields?: Readonly<Record<string, unknown>>): void
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void
  error(message: string, fields?: Readonly<Record<string, unknown>>): void
}

export interface QueueOptions {
  /** Identity of the farm: every name in the backend carries it, so that two farms on one backend never meet. */
  readonly farmId: string
  /** A master may create what the backend needs (the schema on Postgres); a worker only uses it. */
  readonly role: 'master' | 'worker'
  readonly log: QueueLog
  /**
   * Longest time until a message whose consumer died between take and ack is given to another one. It is also three
   * times as long as a claim may take before the message is offered again, which is harmless.
   */
  readonly redeliverMs?: number
}

/** Names one message: the run, how often it was queued anew, and the needs of its workflow. */
export interface MessageRef extends Ticket {
  readonly requirementClass: string
}

export interface QueueMessage extends MessageRef {
  readonly priority: Priority
}

/**
 * The run queue: a bell that tells workers which runs are worth claiming. Postgres is the truth; losing every message
 * costs time and nothing else. All calls reject within seconds while the backend cannot be reached, `take` excepted.
 */
export interface RunQueue extends AsyncDisposable {
  /** Same (run, epoch) twice is one message. Not atomic: after an error some of the messages may be in. */
  add(messages: readonly QueueMessage[]): Promise<void>
  /** Messages of a class that no consumer has taken yet, by priority. */
  waiting(requirementClass: string): Promise<Record<Priority, number>>
  /** Which of the messages exist, taken and not yet acknowledged ones included; same order. */
  has(messages: readonly MessageRef[]): Promise<boolean[]>
  /** Best effort: a message that a consumer has in hand stays with it. */
  remove(messages: readonly MessageRef[]): Promise<void>
  /** Changes when the backend may have lost messages: it was flushed, restarted or failed over. */
  incarnation(): Promise<string>
  /** The receiving side for one process. `serves` is asked once a second for each class in use. */
  consumer(options: { serves(requirementClass: string): boolean }): Consumer
  /**
   * Signals every process that listens. A hint: it can be lost (heartbeats find the request as well), and any login of
   * the queue can send one, so a worker stops a run only when the database has the request.
   */
  publishCancel(runs: readonly { readonly runId: number }[]): Promise<void>
  /** Resolves once the subscription stands; it comes back by itself after the backend was away. */
  onCancel(listener: (runIds: number[]) => void): Promise<AsyncDisposable>
  /**
   * Resolves when messages can be written now. Rejects with `QueueSetupError` for what waiting will not heal (an
   * eviction policy that may drop messages, a version too old), with another error when the backend is away.
   */
  check(): Promise<void>
}

export interface Delivery extends Ticket {
  /** The run was claimed, or is not there to be claimed: the message goes. Never rejects. */
  ack(): Promise<void>
  /** Not claimed: back to its place, for any consumer. Never rejects; what fails is redelivered later. */
  release(): Promise<void>
}

export interface Consumer extends AsyncDisposable {
  /**
   * Waits until there is something, then resolves to at most `max` messages: those with the highest priority over all
   * classes that are served, and of these the ones of the oldest runs; within a class they come in the order of being
   * added. Outlasts any outage of the backend. Resolves to `[]` only
   * when `signal` aborts. One call at a time; ask for no more than there are free slots, for there is no prefetch.
   */
  take(max: number, signal: AbortSignal): Promise<Delivery[]>
}

/** The backend is there, and is not fit for this; the message says how to make it fit. */
export class QueueSetupError extends Error {
  override readonly name = 'QueueSetupError'
}
