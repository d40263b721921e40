import type { ClaimedRun, RunStore } from '@scanfarm/contracts'
import { pause } from '@scanfarm/platform'
import type { Consumer, Delivery } from '@scanfarm/queue'

/** Where slots get their runs from: the queue in a worker, Postgres in a server. */
export interface RunSource {
  /**
   * Claims at most `capacity()` runs for this worker. If there are none, waits for at most `free` runs; the answer may be
   * empty. Must not be called while a call is pending. May reject; the caller tries again later. An abort ends the wait,
   * but not a pending claim.
   */
  next(
    workerId: string,
    capacity: () => number,
    signal: AbortSignal,
    free?: number,
  ): Promise<readonly ClaimedRun[]>
  /** A claim has been sent and not been answered: Postgres may know of runs that this process does not know yet. */
  readonly claiming: boolean
}

type Track = <T>(claim: () => Promise<T>) => Promise<T>

/** `claiming` is true while a claim that `next` tracks is pending. */
const createSource = (next: (track: Track) => RunSource['next']): RunSource => {
  let claiming = false
  const track: Track = async (claim) => {
    claiming = true
    try {
      return await claim()
    } finally {
      claiming = false
    }
  }
  return {
    get claiming() {
      return claiming
    },
    next: next(track),
  }
}

export interface PolledSource extends RunSource {
  /** There may be a run: claims again without waiting for the next poll. */
  notify(): void
}

/** Claims queued runs straight from Postgres. */
export function createPolledSource(options: {
  claim(workerId: string, max: number): Promise<readonly ClaimedRun[]>
  /** Time between claims without a notification. */
  readonly pollMs: number
}): PolledSource {
  let notified = new AbortController()
  const source = createSource((track) => async (workerId, capacity, signal, free) => {
    // Read before the claim, so that a notification during the claim is not lost.
    const { signal: notification } = notified
    const runs = await track(() => options.claim(workerId, capacity()))
    if (runs.length > 0 || signal.aborted || free === 0) return runs
    await pause(options.pollMs, AbortSignal.any([signal, notification]))
    return []
  })
  return Object.assign(source, {
    notify() {
      notified.abort()
      notified = new AbortController()
    },
  })
}

const ticketOf = ({ runId, epoch }: Delivery) => ({ runId, epoch })

/**
 * Claims the runs that messages of the queue name. The claim in Postgres decides who has a run; after it the message is
 * removed, also when another worker has the run or it was cancelled. When the claim fails, the messages are put back.
 */
export const createQueueSource = ({
  store,
  consumer,
}: {
  readonly store: Pick<RunStore, 'claim'>
  readonly consumer: Consumer
}): RunSource =>
  createSource((track) => async (workerId, capacity, signal, free) => {
    const messages = await consumer.take(capacity, signal, free)
    if (messages.length === 0) return []
    return await track(async () => {
      try {
        const runs = await store.claim(workerId, messages.map(ticketOf))
        // `ack` never rejects. A message whose removal is lost is delivered again and finds no run.
        for (const message of messages) void message.ack()
        return runs
      } catch (error) {
        await Promise.all(messages.map((message) => message.release()))
        throw error
      }
    })
  })
