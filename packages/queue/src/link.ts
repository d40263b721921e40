import type { Ticket } from '@scanfarm/contracts'
import type { BullMessage } from './message.ts'
import type { Head } from './plan-take.ts'

/** What this package uses of a BullMQ queue. */
export interface Sender {
  addBulk(messages: BullMessage[]): Promise<unknown>
  getCountsPerPriority(ranks: number[]): Promise<Record<string, number>>
  remove(id: string): Promise<number>
  close(): Promise<void>
}

/** What this package uses of a BullMQ job in the hands of a consumer. */
export interface ReceivedJob {
  readonly id?: string
  readonly data: unknown
  moveToCompleted(value: string, token: string, fetchNext: false): Promise<unknown>
  moveToWait(token: string): Promise<unknown>
}

/** What this package uses of a BullMQ worker; no processor runs in it. */
export interface Receiver {
  getNextJob(token: string, options: { block: false }): Promise<ReceivedJob | undefined>
  getBackend(): { moveStalledJobsToWait(): Promise<string[]> }
  close(force: boolean): Promise<void>
}

/** Times that rule how fast a message of a dead consumer comes back. */
export interface Redelivery {
  readonly lockMs: number
  readonly checkMs: number
}

/** Blocks an idle consumer until there may be a message in one of the queues. */
export interface Waiter extends AsyncDisposable {
  /** Call before looking into the queues: what arrives from now on ends the next wait. */
  arm(): void
  wait(queues: readonly string[], ms: number, signal: AbortSignal): Promise<void>
}

/** Where Redis and Postgres differ. Names of queues are full names. */
export interface Link extends AsyncDisposable {
  /** Throws, saying what is away, when it is known already that no call can succeed now. */
  assertConnected(): void
  sender(queue: string): Promise<Sender>
  receiver(queue: string, redelivery: Redelivery): Promise<Receiver>
  waiter(): Waiter
  has(queue: string, ids: readonly string[]): Promise<boolean[]>
  /** The first `limit` messages of each queue, in the order in which they would be taken. */
  heads(queues: readonly string[], limit: number): Promise<Head[][]>
  /** Classes that have ever had a message since the backend was last emptied. */
  classes(): Promise<string[]>
  registerClass(requirementClass: string, queue: string): Promise<void>
  incarnation(): Promise<string>
  publishCancel(runs: readonly Pick<Ticket, 'runId'>[]): Promise<void>
  onCancel(listener: (runIds: number[]) => void): Promise<AsyncDisposable>
  check(): Promise<void>
}
