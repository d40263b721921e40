import type { Ticket } from '@scanfarm/contracts'
import type { ReceivedJob } from './link.ts'
import { parseTicket } from './message.ts'
import type { Delivery, QueueLog } from './run-queue.ts'

/** A message in hand; one that cannot be read is dropped and is no delivery. */
export const delivery = async (
  job: ReceivedJob,
  token: string,
  log: QueueLog,
): Promise<Delivery | undefined> => {
  const attempt = async (what: string, act: () => Promise<unknown>) => {
    try {
      await act()
    } catch (error) {
      // Its lock ran out, it was flushed, or the backend is away: whatever is left of it comes again and finds no run.
      log.debug('a message could not be settled', { what, message: job.id, error })
    }
  }
  const ack = () => attempt('ack', () => job.moveToCompleted('', token, false))
  const ticket = readTicket(job.data)
  if (!ticket) {
    log.error('a message that is not ours was dropped from the queue', { message: job.id })
    await ack()
    return undefined
  }
  return { ...ticket, ack, release: () => attempt('release', () => job.moveToWait(token)) }
}

const readTicket = (data: unknown): Ticket | undefined => {
  try {
    return parseTicket(data)
  } catch {
    return undefined
  }
}
