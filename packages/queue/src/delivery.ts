import { valueOr } from '@scanfarm/contracts'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Ticket } from '@scanfarm/contracts'
import type { Received, Receiver } from './backend.ts'
import { parseTicket } from './message.ts'
import type { Delivery, QueueLog } from './run-queue.ts'

/**
 * The deliveries of messages that were taken together; messages that are acknowledged together are removed together. A
 * message that cannot be read is dropped.
 */
export const deliveries = (receiver: Receiver, received: readonly Received[], log: QueueLog): Delivery[] => {
  const settle = async (ids: readonly string[], how: 'remove' | 'return'): Promise<void> => {
    try {
      await receiver.settle(ids, how)
    } catch (error) {
      // Flushed, or the backend is unreachable. A message that still exists is redelivered.
      log.debug('messages could not be settled', { how, messages: ids, error })
    }
  }
  let acknowledged: string[] = []
  let removing: Promise<void> | undefined
  const ack = (id: string): Promise<void> => {
    acknowledged.push(id)
    // In the next turn of the event loop: what the message is about begins first.
    return (removing ??= nextTurn().then(() => {
      const ids = acknowledged
      acknowledged = []
      removing = undefined
      return settle(ids, 'remove')
    }))
  }
  return received.flatMap(({ id, data }) => {
    const ticket = readTicket(data)
    if (ticket !== undefined)
      return [{ ...ticket, ack: () => ack(id), release: () => settle([id], 'return') }]
    log.error('a message of another program was dropped from the queue', { message: id })
    void ack(id)
    return []
  })
}

const readTicket = (data: unknown): Ticket | undefined =>
  valueOr(() => parseTicket(typeof data === 'string' ? JSON.parse(data) : data), undefined)
