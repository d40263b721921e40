import type { RunStore } from '@scanfarm/contracts'
import type { RunSource } from '@scanfarm/executor'
import type { Consumer, Delivery } from '@scanfarm/queue'

/**
 * Runs of the queue: a message names a run, the claim in Postgres decides who has it, and then the message goes at
 * once. A message whose claim found nothing goes as well: somebody else has the run, or it was cancelled. A worker that
 * was given up while it waited for messages decides nothing: it puts them back.
 */
export function createQueueSource(options: {
  readonly store: Pick<RunStore, 'claim'>
  readonly consumer: Consumer
}): RunSource {
  const { store, consumer } = options
  let claiming = false
  return {
    get claiming() {
      return claiming
    },
    async next(workerId, max, signal) {
      const messages = await consumer.take(max, signal)
      if (messages.length === 0) return []
      claiming = true
      try {
        const runs = await store.claim(workerId, messages.map(ticketOf))
        // Never rejects, and what is lost of it comes again and finds no run: nobody has to wait for it.
        for (const message of messages) void message.ack()
        return runs
      } catch (error) {
        await Promise.all(messages.map((message) => message.release()))
        throw error
      } finally {
        claiming = false
      }
    },
  }
}

const ticketOf = ({ runId, epoch }: Delivery) => ({ runId, epoch })
