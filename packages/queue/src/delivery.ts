import type { Ticket } from '@scanfarm/contracts'
import type { ReceivedJob } from './backend.ts'
import { parseTicket } from './message.ts'
import type { Delivery, QueueLog } from './run-queue.ts'

/** The delivery of a job; undefined for a message that cannot be read, which is dropped. */
export const delivery = async (
  job: ReceivedJob,
  token: string,
  log: QueueLog,
): Promise<Delivery | undefined> => {
  const attempt = async (what: string, act: () => Promise<unknown>) => {
    try {
      await act()
    } catch (error) {
      // Its lock expired, it was flushed, or the backend is unreachable. If it still exists, it is redelivered.
      log.debug('a message could not be settled', { what, message: job.id, error })
    }
  }
  const ack = () => attempt('ack', () => job.moveToCompleted('', token, false))
  const ticket = readTicket(job.data)
  if (!ticket) {
    log.error('a message of another program was dropped from the queue', { message: job.id })
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
